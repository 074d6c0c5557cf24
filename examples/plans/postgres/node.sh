# SPDX-License-Identifier: Apache-2.0
# A server of PostgreSQL: the primary, or a standby that copies it first. A node that is started again goes on with
# what it has. SYNC: the standbys for which the primary waits (synchronous_standby_names).
#
# PostgreSQL refuses root, and the run's directory is nobody's but root's: so it runs as postgres, with the one
# capability that lets it enter.
set -e
data=${OUTFOX_DISK:-$OUTFOX_DIR}/$OUTFOX_NAME
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
as_postgres() {
  exec setpriv --reuid=postgres --regid=postgres --clear-groups \
    --inh-caps=+dac_override,+dac_read_search --ambient-caps=+dac_override,+dac_read_search "$@"
}
if [ ! -s "$data/PG_VERSION" ]; then
  mkdir -p "$data"
  chown postgres:postgres "$data"
  chmod 700 "$data"
  if [ "$OUTFOX_NAME" = primary ]; then
    (as_postgres "$bin/initdb" -D "$data" -U postgres -A trust --wal-segsize=1 --no-sync --no-locale -E UTF8)
    printf 'host all all samenet trust\nhost replication all samenet trust\n' >>"$data/pg_hba.conf"
  else
    (as_postgres "$bin/pg_basebackup" -h "$OUTFOX_IP_primary" -U postgres -D "$data" -X stream -R -c fast)
  fi
fi
[ "$OUTFOX_NAME" = primary ] || SYNC= # one that is promoted waits for nobody
as_postgres "$bin/postgres" -D "$data" -c listen_addresses="$OUTFOX_IP" -c unix_socket_directories= \
  -c cluster_name="$OUTFOX_NAME" -c wal_keep_size=200MB -c shared_buffers=16MB -c wal_retrieve_retry_interval=500ms -c synchronous_standby_names="$SYNC"
