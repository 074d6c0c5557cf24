/* SPDX-License-Identifier: Apache-2.0
 *
 *   kv --id 0 --port P --dir DIR --nodes 3                    the leader
 *   kv --id 1 --port P --dir DIR --nodes 3 --follow PORT      a follower of the leader at PORT
 *   kv --dir DIR --recover                                    prints what a start would find on disk
 *
 * Starts and ends: what is on disk, then the threads; SIGTERM and SIGINT end it when what was
 * appended is written. */
#include "kv.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct node node = {.nodes = 1, .leader_port = -1};

enum { THREADS = 6 };

static struct {
    pthread_t thread[THREADS];
    int n;
} started;

static int start(void *(*run)(void *))
{
    if (pthread_create(&started.thread[started.n], NULL, run, NULL))
        return -1;
    started.n++;
    return 0;
}

static int start_all(void)
{
    if (start(journal_thread) < 0 || start(snapshot_thread) < 0)
        return -1;
    if (node.role == LEADER)
        return start(writer_thread) < 0 || start(sweeper_thread) < 0 || start(watch_thread) < 0;
    return start(receiver_thread) < 0 || start(acker_thread) < 0;
}

static void on_signal(int number)
{
    (void)number;
    int error = errno;
    node.stopping = 1;
    loop_wake();
    errno = error;
}

static int usage(void)
{
    fprintf(stderr, "usage: kv --id N --port PORT --dir DIR [--nodes N] [--follow PORT]\n"
                    "       kv --dir DIR --recover\n");
    return 2;
}

static int recover(uint64_t *lsn)
{
    if (snapshot_recover(lsn) < 0 || segments_recover(lsn) < 0) {
        say(ERROR, "cannot read %s: it is damaged", node.dir);
        return -1;
    }
    return 0;
}

static int print_recovered(void)
{
    uint64_t lsn = 0;
    int failed = recover(&lsn) < 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *e = table.bucket[i]; e; e = e->next)
            printf("%.*s %.*s\n", e->record.klen, e->record.data, (int)e->record.vlen,
                   e->record.data + e->record.klen);
    printf("END %llu\n", (unsigned long long)lsn);
    table_clear(&table);
    return failed;
}

static void stop(void)
{
    node.stopping = 1;
    follower_detach(0, 0);
    for (int i = 0; i < 100 && !leader_gone(); i++)
        pause_ms(10);
    pthread_mutex_lock(&snapshots.lock);
    pthread_cond_broadcast(&snapshots.asked);
    pthread_mutex_unlock(&snapshots.lock);
    pthread_mutex_lock(&journal.lock);
    pthread_cond_broadcast(&journal.work);
    pthread_cond_broadcast(&journal.news);
    pthread_mutex_unlock(&journal.lock);
    while (started.n > 0)
        pthread_join(started.thread[--started.n], NULL);
    table_clear(&table);
    free(journal.pending.data);
}

static int run(void)
{
    uint64_t lsn = 0;
    if (mkdir(node.dir, 0755) < 0 && errno != EEXIST) {
        say(ERROR, "cannot make %s: %s", node.dir, strerror(errno));
        return 1;
    }
    if (recover(&lsn) < 0)
        return 1;
    if (journal_open(lsn) < 0 || serve_open(node.port) < 0) {
        say(ERROR, "cannot start at port %d in %s: %s", node.port, node.dir, strerror(errno));
        return 1;
    }
    if (start_all()) {
        say(ERROR, "cannot start a thread");
        node.stopping = 1;
    }
    say(INFO, "%s %d at port %d, as of %llu", node.role == LEADER ? "leader" : "follower", node.id,
        node.port, (unsigned long long)lsn);
    serve_run();
    stop();
    say(INFO, "ended");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"id", 1, NULL, 'i'},    {"port", 1, NULL, 'p'},   {"dir", 1, NULL, 'd'},
        {"nodes", 1, NULL, 'n'}, {"follow", 1, NULL, 'f'}, {"recover", 0, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    int only_recover = 0;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'i': node.id = (int)strtol(optarg, NULL, 10); break;
        case 'p': node.port = (int)strtol(optarg, NULL, 10); break;
        case 'd': node.dir = optarg; break;
        case 'n': node.nodes = (int)strtol(optarg, NULL, 10); break;
        case 'f': node.leader_port = (int)strtol(optarg, NULL, 10); break;
        case 'r': only_recover = 1; break;
        default: return usage();
        }
    }
    if (optind < argc || !node.dir || node.id < 0 || node.id >= MAX_PEERS)
        return usage();
    if (only_recover)
        return print_recovered();
    node.role = node.leader_port < 0 ? LEADER : FOLLOWER;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return run();
}
