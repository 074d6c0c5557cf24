/* SPDX-License-Identifier: Apache-2.0
 *
 * Whom functions are given to. */
struct job;
void keep(void *p);
void task(int (*f)(struct job *));

void keep(void *p)
{
    (void)p;
}

void task(int (*f)(struct job *))
{
    (void)f;
}
