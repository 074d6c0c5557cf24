/* SPDX-License-Identifier: Apache-2.0
 *
 * A store of two nodes for tests/native/trials, small enough to be read at once: PING, GET and SET as in
 * Redis; what is set is written to a log, which a thread syncs. One mistake is planted: the thread
 * notes that a sync has failed (`stuck`), and nobody ever takes that back.
 *
 *     pair PORT DIRECTORY [PEER] */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDLE, DIRTY, SYNCING };

static struct store {
    int log, state, stuck, peer_port, peer;
    char value[64];
} store;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void sync_once(void)
{
    if (store.state == DIRTY) {
        store.state = SYNCING;
        pthread_mutex_unlock(&lock);
        int failed = fdatasync(store.log);
        pthread_mutex_lock(&lock);
        store.state = IDLE;
        if (failed) {
            fprintf(stderr, "error: sync failed: %s\n", strerror(errno));
            store.stuck = 1;
        }
    }
}

static void *sync_thread(void *arg)
{
    (void)arg;
    for (;;) {
        usleep(10000);
        pthread_mutex_lock(&lock);
        sync_once();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* As well as it goes. */
static void tell_peer(const char *value)
{
    char text[128];
    int n = snprintf(text, sizeof text, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%zu\r\n%s\r\n",
                     strlen(value), value);
    if (store.peer < 0)
        store.peer = dial(store.peer_port);
    if (store.peer >= 0 && write(store.peer, text, (size_t)n) != n) {
        close(store.peer);
        store.peer = -1;
    } else if (store.peer >= 0 && read(store.peer, text, sizeof text) <= 0) {
        close(store.peer);
        store.peer = -1;
    }
}

static const char *set(const char *value)
{
    const char *answer = "+OK\r\n";
    pthread_mutex_lock(&lock);
    if (store.stuck) {
        answer = "-ERR disk trouble\r\n";
    } else {
        ssize_t n = write(store.log, value, strlen(value));
        if (n < 0)
            answer = "-ERR not written\r\n";
        snprintf(store.value, sizeof store.value, "%s", value);
        store.state = DIRTY;
        if (store.peer_port)
            tell_peer(value);
    }
    pthread_mutex_unlock(&lock);
    return answer;
}

/* One line without its end; 0: the connection is over. */
static int line(FILE *in, char *to, int room)
{
    if (!fgets(to, room, in))
        return 0;
    to[strcspn(to, "\r\n")] = 0;
    return 1;
}

static void *serve(void *arg)
{
    int fd = (int)(long)arg;
    FILE *in = fdopen(fd, "r");
    char word[3][64], head[64];
    while (in && line(in, head, sizeof head)) {
        int n = atoi(head + 1);
        char answer[128];
        memset(word, 0, sizeof word);
        for (int i = 0; i < n && i < 3; i++)
            if (!line(in, head, sizeof head) || !line(in, word[i], sizeof word[i]))
                goto over;
        pthread_mutex_lock(&lock);
        snprintf(answer, sizeof answer, "$%zu\r\n%s\r\n", strlen(store.value), store.value);
        pthread_mutex_unlock(&lock);
        if (strcmp(word[0], "PING") == 0)
            strcpy(answer, "+PONG\r\n");
        else if (strcmp(word[0], "SET") == 0)
            strcpy(answer, set(word[2]));
        if (write(fd, answer, strlen(answer)) < 0)
            break;
    }
over:
    if (in)
        fclose(in);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[500];
    pthread_t thread;
    struct sockaddr_in at = {.sin_family = AF_INET};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (argc < 3)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof path, "%s/log", argv[2]);
    store.log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    store.peer_port = argc > 3 ? atoi(argv[3]) : 0;
    store.peer = -1;
    at.sin_port = htons((unsigned short)atoi(argv[1]));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (store.log < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 64)) {
        perror("pair");
        return 1;
    }
    pthread_create(&thread, NULL, sync_thread, NULL);
    for (;;) {
        int client = accept(fd, NULL, NULL);
        if (client < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(long)client) == 0)
            pthread_detach(thread);
        else
            close(client);
    }
}
