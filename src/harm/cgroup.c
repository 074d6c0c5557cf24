/* SPDX-License-Identifier: Apache-2.0 */
#include "harm/cgroup.h"

#include <stdio.h>
#include <string.h>

bool cgroup_has(slice list, char separator, const char *word)
{
    slice part;
    while (slice_cut(&list, separator, &part))
        if (slice_is(slice_trim(part), word))
            return true;
    return false;
}

/* Paths of that file have \040 for a blank and the like. */
static bool add_path(char *out, slice text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++, n++) {
        char c = text.p[i];
        if (n + 1 >= CGROUP_PATH_MOST)
            return false;
        if (c == '\\' && i + 3 < text.n) {
            c = (char)((text.p[i + 1] - '0') * 64 + (text.p[i + 2] - '0') * 8 + text.p[i + 3] -
                       '0');
            i += 3;
        }
        out[n] = c;
    }
    out[n] = 0;
    return n > 0;
}

/* ID PARENT DEVICE ROOT MOUNT OPTIONS ... - TYPE SOURCE CONTROLLERS. `dir` is the root then. */
bool cgroup_mount(slice *rest, struct cgroup *out, slice *controllers)
{
    slice line, word;
    while (slice_cut(rest, '\n', &line)) {
        slice root = {0}, mount = {0}, type = {0};
        *controllers = (slice){0};
        for (uint32_t i = 0; slice_word(&line, &word); i++) {
            if (i == 3)
                root = word;
            else if (i == 4)
                mount = word;
            else if (i > 5 && slice_is(word, "-"))
                break;
        }
        (void)slice_word(&line, &type);
        (void)(slice_word(&line, &word) && slice_word(&line, controllers));
        out->second = slice_is(type, "cgroup2");
        if ((out->second || slice_is(type, "cgroup")) && add_path(out->mount, mount) &&
            add_path(out->dir, root))
            return true;
    }
    return false;
}

/* The path of the process in this tree. */
static bool path_of(slice groups, bool second, const char *controller, slice *path)
{
    slice line, id, names;
    while (slice_cut(&groups, '\n', &line)) {
        *path = line;
        if (slice_cut(path, ':', &id) && slice_cut(path, ':', &names) && path->n &&
            (second ? slice_is(id, "0") && !names.n : cgroup_has(names, ',', controller)))
            return true;
    }
    return false;
}

/* The mount shows the tree from its root on: in a container that is not the tree's own. */
static bool place(struct cgroup *g, slice path)
{
    slice root = slice_of(g->dir);
    bool whole = slice_is(root, "/");
    if (!whole && slice_starts(path, root))
        path = slice_from(path, root.n);
    else if (!whole || slice_is(path, "/"))
        path = (slice){"", 0};
    int n = snprintf(g->dir, sizeof g->dir, "%s%.*s", g->mount, SLICE_ARG(path));
    return n > 0 && (size_t)n < sizeof g->dir && !strstr(g->dir, "/../");
}

bool cgroup_find(slice mounts, slice groups, const char *controller, struct cgroup *out)
{
    for (int second = 0; second < 2; second++) {
        slice rest = mounts, controllers, path;
        while (cgroup_mount(&rest, out, &controllers))
            if (out->second == (second == 1) &&
                (out->second || cgroup_has(controllers, ',', controller)) &&
                path_of(groups, out->second, controller, &path))
                return place(out, path);
    }
    return false;
}

bool cgroup_up(char *dir, const char *top)
{
    size_t n = strlen(top);
    char *slash = strrchr(dir, '/');
    if (strncmp(dir, top, n) != 0 || dir[n] != '/' || !slash || slash < dir + n)
        return false;
    *slash = 0;
    return true;
}
