# SPDX-License-Identifier: Apache-2.0
# A member of the cluster, on the plan's own network.
exec nats-server --jetstream --store_dir "${OUTFOX_DISK:-$OUTFOX_DIR}/$OUTFOX_NAME" --name "$OUTFOX_NAME" --addr "$OUTFOX_IP" --port 4222 \
  --cluster_name main --cluster "nats://$OUTFOX_IP:6222" \
  --routes "nats://$OUTFOX_IP_nats1:6222,nats://$OUTFOX_IP_nats2:6222,nats://$OUTFOX_IP_nats3:6222"
