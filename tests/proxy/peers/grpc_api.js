// SPDX-License-Identifier: Apache-2.0
// The methods of the test services, for the service and for its client.
'use strict';

const json = {
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (bytes) => JSON.parse(bytes.toString()),
};
const bytes = { serialize: (value) => Buffer.from(value), deserialize: (value) => value };

function method(service, name, requestStream, responseStream, format) {
    return {
        path: `/${service}/${name}`, requestStream, responseStream,
        requestSerialize: format.serialize, requestDeserialize: format.deserialize,
        responseSerialize: format.serialize, responseDeserialize: format.deserialize,
    };
}

const services = {
    'test.Echo': {},
    'grpc.health.v1.Health': {
        Check: method('grpc.health.v1.Health', 'Check', false, false, bytes),
    },
};
for (const [name, up, down] of [
    ['Unary', false, false], ['Fail', false, false], ['Large', false, false],
    ['Wait', false, false],
    ['Collect', true, false], ['Expand', false, true], ['Chat', true, true]]) {
    services['test.Echo'][name] = method('test.Echo', name, up, down, json);
}

module.exports = { services };
