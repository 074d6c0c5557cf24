// SPDX-License-Identifier: Apache-2.0
//
// What a caller saw of a call: how good that is, and what it is called.
import { table } from './table';

export type Tone = 'ok' | 'odd' | 'bad' | 'none';

const statuses = table({
    200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 301: 'Moved Permanently', 302: 'Found',
    304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
    405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 413: 'Content Too Large',
    422: 'Unprocessable Content', 424: 'Failed Dependency', 429: 'Too Many Requests', 500: 'Internal Server Error',
    501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
});

const grpc = ['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS',
    'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED',
    'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'];

const others = table({
    reset: 'connection reset', closed: 'connection closed', refused: 'connection refused', timeout: 'no answer in time',
    cancelled: 'given up by the caller', unknown: 'not known',
});

export function tone(outcome: string): Tone {
    if (/^[123]\d\d$/.test(outcome) || outcome === 'grpc:0' || outcome === 'exit:0') return 'ok';
    if (/^4\d\d$/.test(outcome) || outcome === 'cancelled') return 'odd';
    return outcome === '' || outcome === 'unknown' ? 'none' : 'bad';
}

/** "Service Unavailable" for 503; empty where there are no better words. */
export function outcomeWords(outcome: string): string {
    const code = /^grpc:(\d+)$/.exec(outcome)?.[1];
    if (code !== undefined) return grpc[Number(code)] ?? '';
    return statuses.get(outcome) ?? others.get(outcome) ?? '';
}

const got = table({
    reset: 'a connection reset', closed: 'a closed connection', refused: 'a refused connection', timeout: 'a timeout',
    cancelled: 'a cancelled call', unknown: 'an unknown outcome',
});

/** What somebody gets: "503", "a closed connection". */
export function gotWords(outcome: string): string {
    return got.get(outcome) ?? outcome;
}
