/* SPDX-License-Identifier: Apache-2.0
 *
 * What the agent has of its own: a token and a certificate, in files that are kept, so that plans need
 * not be changed when it is started again, and `outfox doctor` finds it as it was. */
#include <errno.h>
#include <unistd.h>

#include "agent/agent_int.h"
#include "base/file.h"
#include "base/token.h"
#include "io/cert.h"

enum { PATH_BYTES = 4096 };

static const char *own_path(struct arena *a, const char *name)
{
    struct buf path = BUF_INIT(PATH_BYTES);
    file_state_home(&path);
    buf_addf(&path, "/agent/%s", name);
    return buf_keep(&path, a).p;
}

/* Makes it when it is not there. `make` returns 0 or errno. */
static int own_file(const char *path, int (*make)(const char *path), struct err *e)
{
    int code = 0;
    if (access(path, F_OK) == 0)
        return 0;
    if (file_make_directories(path))
        code = errno;
    code = code ? code : make(path);
    return code ? err_set(e, 0, 0,
                          "%s cannot be written: %s; set XDG_STATE_HOME, or name files of your own "
                          "with --token-file and --cert",
                          path, strerror(code))
                : 0;
}

static int make_token(const char *path)
{
    struct buf token = BUF_INIT(100);
    token_make(&token);
    buf_addc(&token, '\n');
    int code = file_replace(path, buf_slice(&token));
    buf_deinit(&token);
    return code;
}

static int make_cert(const char *path)
{
    return cert_keep(path, NULL);
}

int agent_own(struct agent *a, struct err *e)
{
    a->token_file = a->o.token_file;
    a->cert = a->o.cert;
    if (!a->token_file && own_file(a->token_file = own_path(&a->arena, "token"), make_token, e))
        return -1;
    if (!a->cert && own_file(a->cert = own_path(&a->arena, "cert.pem"), make_cert, e))
        return -1;
    return token_read(a->token_file, "--token-file", &a->arena, &a->token, e) ||
                   token_check(a->token, e)
               ? -1
               : 0;
}
