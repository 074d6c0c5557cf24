# SPDX-License-Identifier: Apache-2.0
# A server of the ensemble, on the plan's own network. A tick is 500 ms: who is not heard for four of them is gone.
# (ZooKeeper's example has ticks of 2 s and a limit of five, which makes all the same take five times as long.)
home=$OUTFOX_DIR/$OUTFOX_NAME
data=${DATA:-$home/data}
mkdir -p "$home" "$data"
echo "${OUTFOX_NAME#zk}" >"$data/myid"
cat >"$home/zoo.cfg" <<END
tickTime=500
initLimit=20
syncLimit=4
dataDir=$data
clientPort=2181
clientPortAddress=$OUTFOX_IP
admin.enableServer=false
4lw.commands.whitelist=srvr
server.1=$OUTFOX_IP_zk1:2888:3888
server.2=$OUTFOX_IP_zk2:2888:3888
server.3=$OUTFOX_IP_zk3:2888:3888
END
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.net.preferIPv4Stack=true \
  -Dzookeeper.jmx.log4j.disable=true -Dzookeeper.preAllocSize=1024 "$@" \
  -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar org.apache.zookeeper.server.quorum.QuorumPeerMain "$home/zoo.cfg"
