/* SPDX-License-Identifier: Apache-2.0
 *
 * The workload: a client for each node, in phases.
 *
 *   kvclient work --ports P0,P1,P2 --history FILE [--node N] [--phase NAME]
 *   kvclient ready --ports PORT, kvclient ping --ports PORT
 *   kvclient check --ports P0,P1,P2 --history FILE [--kv PROGRAM]
 *
 * A client writes at the leader and reads what it wrote at its own node; each has keys of its own. It says
 * of each operation `ok` or `fail`, and ends when one fails again and again. It tries again,
 * as robust clients do: a fault that the store gets over soon enough is none. Without --node
 * there is a client for each node, side by side, and they enter each phase together.
 * check asks whether all is well afterwards: nodes are healthy, and each has what was acknowledged, in
 * memory and on disk. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 8, LINE = 512 };
enum {
    PATIENCE_MS = 500, /* what takes longer has failed */
    AGAIN_MS = 150,    /* and if it goes on to fail, each time after so long */
    GIVE_UP = 3,       /* failures of one operation */
    SAVE_MS = 3000,    /* a snapshot may take its time, and so may a write while a node is away */
    AWAY_MS = 200,
    SETTLE_MS = 2700,
};
enum { KEYS = 12, MISSED = 40, RESYNCED = 1, DETACHED = 2 };

/* Connections of this client: to each node, when it is needed. */
static struct {
    int port[NODES], n;
    int fd[NODES];
    int me;
    const char *phase, *history, *kv;
    int one_is_away; /* a write needs all that are left */
    int counter;     /* makes values differ */
    int away;        /* in this phase its node had to wait for the leader for long */
} client = {.me = -1, .kv = "./kv"};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- one question, one answer ---- */

static void hang_up(int node)
{
    if (client.fd[node] >= 0)
        close(client.fd[node]);
    client.fd[node] = -1;
}

static int reach(int node)
{
    if (client.fd[node] >= 0)
        return 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)client.port[node])};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
        close(fd);
        return -1;
    }
    client.fd[node] = fd;
    return 0;
}

static int hear(int node, char *answer)
{
    for (size_t n = 0; n < LINE - 1; n++) {
        if (recv(client.fd[node], answer + n, 1, 0) != 1)
            return -1;
        if (answer[n] == '\n') {
            answer[n] = 0;
            return 0;
        }
    }
    return -1;
}

/* The first line of the answer within half a second, or within patience; 0, or -1 with the reason. */
static int ask_for(int node, const char *question, char *answer, int patience_ms)
{
    struct timeval limit = {.tv_sec = patience_ms / 1000, .tv_usec = patience_ms % 1000 * 1000};
    char line[LINE];
    int n = snprintf(line, sizeof line, "%s\n", question);
    errno = 0;
    if (reach(node) < 0 ||
        setsockopt(client.fd[node], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        send(client.fd[node], line, (size_t)n, MSG_NOSIGNAL) != n || hear(node, answer) < 0) {
        snprintf(answer, LINE, "node %d: %s", node,
                 errno == EAGAIN ? "no answer"
                 : errno         ? strerror(errno)
                                 : "connection closed");
        hang_up(node);
        return -1;
    }
    return 0;
}

static int ask(int node, const char *question, char *answer)
{
    return ask_for(node, question, answer, PATIENCE_MS);
}

/* ---- operations ---- */

static void remember(const char *key, const char *value)
{
    char line[LINE];
    int n = snprintf(line, sizeof line, "%s %s\n", key, value);
    int fd = open(client.history, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, (size_t)n) != n) {
        perror(client.history);
        exit(2);
    }
    close(fd);
}

static int report(int ok, int64_t begun, const char *what, const char *why)
{
    printf("%s %lldus node %d %s %s%s%s\n", ok ? "ok" : "fail", (long long)(now_us() - begun),
           client.me, client.phase, what, ok ? "" : ": ", ok ? "" : why);
    fflush(stdout);
    return ok ? 0 : -1;
}

/* Until the answer is what is wanted. When patience ends that is a failure, and it goes on, less patiently,
 * for the failure may be over soon: then the phase goes on, too. */
static int insist(int node, const char *question, const char *wanted, int patience_ms)
{
    char answer[LINE] = "";
    int64_t begun = now_us();
    for (int failures = 0; failures < GIVE_UP;) {
        int limit_ms = patience_ms > PATIENCE_MS ? patience_ms : PATIENCE_MS;
        if (ask_for(node, question, answer, limit_ms) == 0 && !strcmp(answer, wanted))
            return report(1, begun, question, "");
        if (now_us() - begun > patience_ms * 1000) {
            report(0, begun, question, answer);
            failures++;
            begun = now_us();
            patience_ms = AGAIN_MS;
        }
        pause_ms(5);
    }
    return -1;
}

/* A write at the leader; afterwards the key is known to be `value`, or not known. */
static int put(const char *question, const char *key, const char *value)
{
    remember(key, "?");
    if (insist(0, question, "OK", client.one_is_away ? SAVE_MS : PATIENCE_MS) < 0)
        return -1;
    remember(key, value);
    return 0;
}

static void key_of(const char *kind, int i, char *out)
{
    snprintf(out, 40, "%s-%d-%d", kind, client.me, i);
}

static int set(const char *kind, int i, int ttl, char *value)
{
    char question[LINE], key[40];
    key_of(kind, i, key);
    snprintf(value, 60, "%s-%d-%d", client.phase, i, ++client.counter);
    snprintf(question, sizeof question, ttl ? "SET %s %s %d" : "SET %s %s", key, value, ttl);
    return put(question, key, ttl ? "?" : value);
}

/* Reads at its own node until that has the value. The node may be waiting for its leader: then, after a
 * while, the leader's answer is as good. */
static int get(const char *kind, int i, const char *value)
{
    char question[LINE], key[40], wanted[LINE], answer[LINE] = "";
    key_of(kind, i, key);
    snprintf(question, sizeof question, "GET %s", key);
    snprintf(wanted, sizeof wanted, value ? "VALUE %s" : "NONE", value);
    int64_t begun = now_us();
    for (int node = client.me, patience_ms = PATIENCE_MS, failures = 0; failures < GIVE_UP;) {
        if (ask(node, question, answer) == 0 && !strcmp(answer, wanted))
            return report(1, begun, question, "");
        if (now_us() - begun > patience_ms * 1000) {
            report(0, begun, question, answer);
            failures++;
            begun = now_us();
            patience_ms = AGAIN_MS;
        }
        if (!strncmp(answer, "MOVED", 5)) {
            client.away |= now_us() - begun > AWAY_MS * 1000;
            node = client.away ? 0 : client.me;
        }
        pause_ms(2);
    }
    return -1;
}

/* ---- phases ---- */

static int write_and_read(int n)
{
    char value[KEYS][60];
    for (int i = 0; i < n; i++)
        if (set("key", i, 0, value[i]) < 0 || get("key", i, value[i]) < 0)
            return -1;
    return 0;
}

static int phase_write(void)
{
    return write_and_read(KEYS);
}

/* One follower gets everything anew. */
static int phase_resync(void)
{
    if (client.me != RESYNCED)
        return write_and_read(4);
    if (insist(client.me, "RESYNC", "OK", PATIENCE_MS) < 0)
        return -1;
    return write_and_read(KEYS);
}

/* Before a node is taken away, the others must be there; or else it stays. */
static int all_is_well(void)
{
    char info[LINE] = "";
    int64_t begun = now_us();
    while (ask(0, "INFO", info) < 0 || !strstr(info, "health=ok")) {
        if (now_us() - begun > SETTLE_MS * 1000)
            return 0;
        pause_ms(10);
    }
    return 1;
}

/* Another is away while much is written, comes back and reads all of it. */
static int phase_catch_up(void)
{
    char value[MISSED][60];
    if (client.me != DETACHED || !all_is_well())
        return write_and_read(4);
    int failed = insist(client.me, "DETACH 5000", "OK", PATIENCE_MS) < 0;
    for (int i = 0; i < MISSED && !failed; i++)
        failed = set("missed", i, 0, value[i]) < 0;
    failed |= insist(client.me, "DETACH 0", "OK", PATIENCE_MS) < 0;
    for (int i = MISSED - 1; i >= 0 && !failed; i--)
        failed = get("missed", i, value[i]) < 0;
    return failed ? -1 : 0;
}

static int phase_snapshot(void)
{
    return insist(client.me, "SAVE", "OK", SAVE_MS) < 0 ? -1 : write_and_read(4);
}

static int phase_expire(void)
{
    char value[60];
    for (int i = 0; i < 2; i++)
        if (set("short", i, 40, value) < 0 || get("short", i, NULL) < 0)
            return -1;
    return 0;
}

static int phase_delete(void)
{
    char question[LINE], key[40];
    for (int i = 0; i < KEYS; i += 2) {
        key_of("key", i, key);
        snprintf(question, sizeof question, "DEL %s", key);
        if (put(question, key, "-") < 0 || get("key", i, NULL) < 0)
            return -1;
    }
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} phases[] = {
    {"create", phase_write},  {"update", phase_write},  {"snapshot", phase_snapshot},
    {"expire", phase_expire}, {"resync", phase_resync}, {"catch-up", phase_catch_up},
    {"delete", phase_delete},
};
enum { PHASES = sizeof phases / sizeof *phases };

static int run_phase(int i)
{
    client.phase = phases[i].name;
    client.away = 0;
    client.one_is_away = phases[i].run == phase_catch_up;
    client.counter = (int)(now_us() % 1000000) * 100;
    return phases[i].run();
}

/* A client for each node in this phase; those that have failed before are not asked again. */
static int run_side_by_side(int i, int *failed)
{
    pid_t child[NODES];
    int any = 0;
    for (int n = 0; n < client.n; n++) {
        child[n] = failed[n] ? -1 : fork();
        if (child[n] == 0) {
            client.me = n;
            exit(run_phase(i) < 0);
        }
    }
    for (int n = 0, status; n < client.n; n++) {
        if (child[n] > 0 && waitpid(child[n], &status, 0) == child[n] && status)
            failed[n] = 1;
        any |= failed[n];
    }
    return any;
}

static int work(void)
{
    int any = 0, failed[NODES] = {0};
    for (int i = 0; i < PHASES; i++) {
        if (client.phase && strcmp(client.phase, phases[i].name))
            continue;
        const char *asked = client.phase;
        if (client.me < 0)
            any |= run_side_by_side(i, failed);
        else
            any |= run_phase(i) < 0;
        client.phase = asked;
        if (any)
            break;
    }
    return any;
}

/* ---- check ---- */

enum { KNOWN = 1000 };
static struct {
    char key[40], value[60];
} known[KNOWN];
static int n_known;

static void known_set(const char *key, const char *value)
{
    int i = 0;
    while (i < n_known && strcmp(known[i].key, key))
        i++;
    if (i == KNOWN)
        return;
    n_known += i == n_known;
    snprintf(known[i].key, sizeof known[i].key, "%s", key);
    snprintf(known[i].value, sizeof known[i].value, "%s", value);
}

static void history_read(void)
{
    char key[40], value[60];
    FILE *f = fopen(client.history, "r");
    while (f && fscanf(f, "%39s %59s", key, value) == 2)
        known_set(key, value);
    if (f)
        fclose(f);
}

/* What a node says that it has, as lines of KEY VALUE; how many acknowledged writes it lacks. */
static int compare(int node, const char *where, char (*has)[2][60], int n)
{
    int wrong = 0;
    for (int i = 0; i < n_known; i++) {
        const char *is = "-";
        for (int j = 0; j < n; j++)
            if (!strcmp(has[j][0], known[i].key))
                is = has[j][1];
        if (!strcmp(known[i].value, "?") || !strcmp(known[i].value, is))
            continue;
        if (!wrong++)
            printf("fail invariant: node %d %s: %s is %s, and %s was acknowledged\n", node, where,
                   known[i].key, is, known[i].value);
    }
    if (wrong > 1)
        printf("fail invariant: node %d %s: %d keys are wrong\n", node, where, wrong);
    return wrong;
}

static int check_memory(int node)
{
    static char has[KNOWN][2][60];
    char line[LINE];
    int n = 0, failed = ask(node, "DUMP", line) < 0;
    while (!failed && strcmp(line, "END")) {
        if (n < KNOWN && sscanf(line, "%59s %59s", has[n][0], has[n][1]) == 2)
            n++;
        failed = hear(node, line) < 0;
    }
    if (failed)
        return printf("fail invariant: node %d does not say what it has\n", node);
    return compare(node, "in memory", has, n);
}

/* As a start would find it. */
static int check_disk(int node, const char *dir)
{
    static char has[KNOWN][2][60];
    char command[LINE], line[LINE];
    int n = 0;
    snprintf(command, sizeof command, "%s --dir %s --recover 2>/dev/null", client.kv, dir);
    FILE *f = popen(command, "r"); /* the command is of words that the user gave */
    while (f && fgets(line, sizeof line, f))
        if (n < KNOWN && sscanf(line, "%59s %59s", has[n][0], has[n][1]) == 2)
            n++;
    if (!f || pclose(f))
        return printf("fail invariant: node %d on disk: cannot be read\n", node);
    return compare(node, "on disk", has, n);
}

static int healthy(char (*info)[LINE])
{
    int all = 1;
    for (int i = 0; i < client.n; i++)
        all &= ask(i, "INFO", info[i]) == 0 && strstr(info[i], "health=ok");
    const char *last = all ? strstr(info[0], "last=") : NULL;
    for (int i = 0; i < client.n && last; i++) { /* nothing is under way */
        unsigned long long l, d, own;
        all &= sscanf(last, "last=%llu", &l) == 1 &&
               sscanf(strstr(info[i], "last="), "last=%llu durable=%llu", &own, &d) == 2 &&
               own == l && d == l;
    }
    return all;
}

static int check(void)
{
    char info[NODES][LINE];
    int bad = 0;
    int64_t begun = now_us();
    while (!healthy(info) && now_us() - begun < SETTLE_MS * 1000)
        pause_ms(20);
    for (int i = 0; i < client.n; i++)
        if (!strstr(info[i], "health=ok"))
            bad |= printf("fail invariant: node %d is not healthy: %s\n", i, info[i]);
    history_read();
    for (int i = 0; i < client.n; i++) {
        bad |= check_memory(i);
        const char *dir = strstr(info[i], "dir=");
        bad |= dir ? check_disk(i, dir + 4) : 0;
    }
    if (!bad)
        printf("ok %lldus check of %d keys\n", (long long)(now_us() - begun), n_known);
    return bad != 0;
}

/* Until the node says that all is well, or only that it is there. */
static int await(const char *question, const char *wanted)
{
    char answer[LINE] = "";
    int64_t begun = now_us();
    while (ask(0, question, answer) < 0 || !strstr(answer, wanted)) {
        if (now_us() - begun > 5000000)
            return 1;
        pause_ms(5);
    }
    return 0;
}

/* 2 of "2", and of "node2". */
static int number_in(const char *name)
{
    return (int)strtol(name + strcspn(name, "0123456789"), NULL, 10);
}

int main(int argc, char **argv)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        char *value = argv[i + 1];
        if (!strcmp(argv[i], "--ports"))
            for (char *p; client.n < NODES && (p = strtok_r(value, ",", &value));)
                client.port[client.n++] = (int)strtol(p, NULL, 10);
        else if (!strcmp(argv[i], "--node"))
            client.me = number_in(value);
        else if (!strcmp(argv[i], "--phase"))
            client.phase = value;
        else if (!strcmp(argv[i], "--history"))
            client.history = value;
        else if (!strcmp(argv[i], "--kv"))
            client.kv = value;
    }
    for (int i = 0; i < NODES; i++)
        client.fd[i] = -1;
    if (argc > 1 && client.n && !strcmp(argv[1], "ready"))
        return await("INFO", "health=ok");
    if (argc > 1 && client.n && !strcmp(argv[1], "ping"))
        return await("PING", "PONG");
    if (argc > 1 && client.n && client.history && !strcmp(argv[1], "work"))
        return work();
    if (argc > 1 && client.n && client.history && !strcmp(argv[1], "check"))
        return check();
    fprintf(stderr, "usage: kvclient work|check|ready|ping --ports P0,P1,P2 --history FILE "
                    "[--node N] [--phase NAME] [--kv PROGRAM]\n");
    return 2;
}
