/* SPDX-License-Identifier: Apache-2.0 */
#include "data/pointer.h"

bool pointer_valid(slice text)
{
    bool ok = text.n == 0 || text.p[0] == '/';
    for (size_t i = 0; ok && i < text.n; i++)
        ok = text.p[i] != '~' || (i + 1 < text.n && (text.p[i + 1] == '0' || text.p[i + 1] == '1'));
    return ok;
}

void pointer_add(struct buf *path, slice key)
{
    buf_addc(path, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~' || key.p[i] == '/')
            buf_adds(path, key.p[i] == '~' ? "~0" : "~1");
        else
            buf_addc(path, key.p[i]);
    }
}

bool pointer_next(slice *rest, struct buf *key)
{
    size_t i = 1;
    buf_clear(key);
    if (rest->n == 0)
        return false;
    for (; i < rest->n && rest->p[i] != '/'; i++) {
        bool escape = rest->p[i] == '~' && i + 1 < rest->n;
        if (escape)
            i++;
        buf_addc(key, !escape ? rest->p[i] : rest->p[i] == '0' ? '~' : '/');
    }
    *rest = slice_from(*rest, i);
    return true;
}

bool pointer_index(slice step, uint64_t *out)
{
    return !(step.n > 1 && step.p[0] == '0') && slice_to_u64(step, UINT32_MAX, out);
}

static const struct node *child_at(const struct node *from, slice key)
{
    uint64_t i;
    if (from->type == NODE_MAP)
        return node_get(from, key);
    return from->type == NODE_LIST && pointer_index(key, &i) && i < from->n ? from->list[i] : NULL;
}

const struct node *pointer_at(const struct node *from, slice pointer)
{
    struct buf key = BUF_INIT(pointer.n + 1);
    if (!pointer_valid(pointer))
        from = NULL;
    while (from && pointer_next(&pointer, &key))
        from = child_at(from, buf_slice(&key));
    buf_deinit(&key);
    return from;
}
