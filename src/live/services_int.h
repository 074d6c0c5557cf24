/* SPDX-License-Identifier: Apache-2.0
 *
 * services.c keeps the states, knows the processes and asks whether a service is ready;
 * services_log.c has the files and the words. */
#ifndef OUTFOX_LIVE_SERVICES_INT_H
#define OUTFOX_LIVE_SERVICES_INT_H

#include "io/addr.h"
#include "live/services.h"

enum service_state {
    SERVICE_OFF,      /* with a process: what is left of it is being killed */
    SERVICE_WAITING,  /* about to be started; its port must be free */
    SERVICE_STARTING, /* it was started, and is asked whether it is ready */
    SERVICE_READY,
    SERVICE_STOPPING, /* SIGTERM was sent, then SIGKILL */
};

struct service {
    struct services *all;
    uint32_t index;
    const struct service_spec *spec;
    enum service_state state;
    struct process *process; /* NULL: none */
    bool again;              /* is to be started when the process is gone */
    bool awaited;            /* the round is not over before it is ready */
    bool ordered, anew;      /* it is to end, and then to be started again at once */
    bool ended;              /* it has; before the next run it is ready again */
    struct timer timer;      /* the next step of its state */
    int64_t begin_ns;        /* when starting, or waiting for the port, began */
    int64_t pause_ns;        /* before the next question */
    char *log;               /* path of the file */
    int64_t log_at;          /* its length at services_log_mark */
    uint32_t starts;
    /* asking whether it is ready */
    int fd;                   /* a connection under way; -1: none */
    struct client_call *call; /* a request under way */
    struct tls_context *tls;  /* for it; NULL: plain */
    struct timer asking;      /* the next look at the connection */
    int64_t asked_ns;         /* when it was begun */
    char last[160];           /* what the last answer was, for the message at the deadline */
};

struct services {
    struct loop *loop;
    struct keeper *keeper;
    struct client *client;
    const struct campaign_config *config;
    struct services_hooks hooks;
    struct service *at; /* one for each of the configuration; not ours: spec->run is empty */
    uint32_t n;
    bool round;        /* `ready` or `failed` is due */
    struct timer soon; /* looks whether a round or stopping is over already */
    struct timer trim; /* looks whether a log has become too long */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* services_log.c: makes the directory and empties the files. */
int service_logs_make(struct services *all, struct err *e) MUST_USE;

/* From now on they are emptied when they become too long. */
void service_logs_watch(struct services *all);

/* The file, to be appended to, with a line between two starts; -1 with *e. */
int service_log_open(struct service *s, struct err *e) MUST_USE;

/* "exit code 3" or "signal 11, segmentation fault" */
void status_print(int status, struct buf *out);

/* An error about this service: "service NAME" and the sentence, with the place in the file. */
void service_err(const struct service *s, struct err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "; see FILE", and what its last lines are. */
void service_log_print(const struct service *s, struct buf *out);

#endif
