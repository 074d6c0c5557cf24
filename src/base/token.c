/* SPDX-License-Identifier: Apache-2.0 */
#include "base/token.h"

#include "base/file.h"
#include "base/random.h"

enum { TOKEN_FILE_MAX = 4096 };

int token_check(slice token, struct err *e)
{
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] > '~')
            return err_set(e, 0, 0,
                           "the token has a byte that HTTP cannot carry; use letters and digits, "
                           "such as those of `openssl rand -hex 16`");
    if (token.n < TOKEN_LEAST || token.n > TOKEN_MOST)
        return err_set(e, 0, 0,
                       "the token must have %d to %d characters; use those of `openssl rand -hex "
                       "16`",
                       TOKEN_LEAST, TOKEN_MOST);
    return 0;
}

bool token_same(slice a, slice b)
{
    volatile uint8_t differs = a.n != b.n;
    for (size_t i = 0; i < b.n; i++)
        differs |= (uint8_t)((i < a.n ? a.p[i] : 0) ^ b.p[i]);
    return !differs;
}

int token_read(const char *path, const char *what, struct arena *a, slice *out, struct err *e)
{
    struct buf text = BUF_INIT(TOKEN_FILE_MAX);
    int number = file_read(path, &text), failed = 0;
    slice token = slice_trim(buf_slice(&text));
    if (number)
        failed = err_set(e, 0, 0, "%s: %s cannot be read: %s", what, path, strerror(number));
    else if (!token.n)
        failed = err_set(e, 0, 0, "%s: %s is empty; write a long random text into it", what, path);
    else
        *out = slice_copy(a, token);
    buf_deinit(&text);
    return failed;
}

void token_make(struct buf *out)
{
    for (int i = 0; i < 2; i++)
        buf_addf(out, "%016llx", (unsigned long long)random_key());
}
