# SPDX-License-Identifier: Apache-2.0
# A member of the cluster, on the plan's own network. Times are those of etcd itself: a heartbeat each 100 ms, an
# election when there was none for 1 to 2 s. More options may follow.
mine=http://$OUTFOX_IP
exec etcd --name "$OUTFOX_NAME" --data-dir "${DATA:-$OUTFOX_DIR/$OUTFOX_NAME.data}" --log-outputs stderr \
  --listen-client-urls "$mine:2379" --advertise-client-urls "$mine:2379" \
  --listen-peer-urls "$mine:2380" --initial-advertise-peer-urls "$mine:2380" --initial-cluster-state new \
  --initial-cluster "etcd1=http://$OUTFOX_IP_etcd1:2380,etcd2=http://$OUTFOX_IP_etcd2:2380,etcd3=http://$OUTFOX_IP_etcd3:2380" "$@"
