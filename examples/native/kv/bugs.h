/* SPDX-License-Identifier: Apache-2.0
 *
 * The twelve planted bugs, BUGS.md says what they are. Each is in unless it is compiled with
 * -DKV_BUG_n=0, and none is with -DKV_FIXED. Without a fault none of them does anything. */
#ifndef KV_BUGS_H
#define KV_BUGS_H

#ifdef KV_FIXED
#define KV_BUGS 0
#else
#define KV_BUGS 1
#endif

#ifndef KV_BUG_1
#define KV_BUG_1 KV_BUGS /* a failed sync of the journal: writes are refused forever */
#endif
#ifndef KV_BUG_2
#define KV_BUG_2 KV_BUGS /* the sweeper ends on its first error */
#endif
#ifndef KV_BUG_3
#define KV_BUG_3 KV_BUGS /* a lock is held while a snapshot is sent to a follower */
#endif
#ifndef KV_BUG_4
#define KV_BUG_4 KV_BUGS /* after a failed sync of a snapshot nobody wakes its thread again */
#endif
#ifndef KV_BUG_5
#define KV_BUG_5 KV_BUGS /* a snapshot that cannot be renamed removes the wrong file */
#endif
#ifndef KV_BUG_6
#define KV_BUG_6 KV_BUGS /* a follower that was lost while catching up is never in sync again */
#endif
#ifndef KV_BUG_7
#define KV_BUG_7 KV_BUGS /* the end of a full sync is never acknowledged */
#endif
#ifndef KV_BUG_8
#define KV_BUG_8 KV_BUGS /* the rest of a short write is dropped where a segment begins */
#endif
#ifndef KV_BUG_9
#define KV_BUG_9 KV_BUGS /* the place of a follower is not given back when attaching it fails */
#endif
#ifndef KV_BUG_10
#define KV_BUG_10 KV_BUGS /* catching up from disk: a retry without pause and without end */
#endif
#ifndef KV_BUG_11
#define KV_BUG_11 KV_BUGS /* a record that cannot be applied while catching up is skipped */
#endif
#ifndef KV_BUG_12
#define KV_BUG_12 KV_BUGS /* a full sync goes on although its snapshot is not on disk */
#endif

#endif
