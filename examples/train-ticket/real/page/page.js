// SPDX-License-Identifier: Apache-2.0
// The page: log in, search, book. What happened is said in #message.
//
// BUG 10: if the search fails, the page says "Searching ..." forever.
// BUG 11: whatever the answer to a booking is, the page says that it is booked.
'use strict';
const find = (id) => document.getElementById(id);
let token = '';

function say(text) {
    find('message').textContent = text;
}

function ask(method, path, body) {
    return fetch(path, {
        method,
        headers: { 'content-type': 'application/json', authorization: token },
        body: body && JSON.stringify(body),
    });
}

function show(list, items) {
    find(list).replaceChildren(...items.map(({ text, button, action }) => {
        const item = document.createElement('li');
        item.append(`${text} `);
        if (button) item.append(Object.assign(document.createElement('button'), { textContent: button, onclick: action }));
        return item;
    }));
}

async function showTickets() {
    const answer = await ask('GET', 'api/orders');
    if (!answer.ok) return;
    const { orders } = await answer.json();
    show('tickets', orders.map(({ train, seat }) => ({ text: `${train}, seat ${seat}` })));
}

async function logIn({ user, password }) {
    const answer = await ask('POST', 'api/login', { user, password });
    if (!answer.ok) return say(answer.status === 401 ? 'Wrong name or password' : 'Sorry, please try again later');
    ({ token } = await answer.json());
    say(`Welcome, ${user}`);
}

async function search({ from, to }) {
    say('Searching ...');
    const { trips } = await (await ask('GET', `api/trips?${new URLSearchParams({ from, to })}`)).json();
    show('trips', trips.map(({ train, leaves, euros }) => ({
        text: `${leaves} ${train}: ${euros} euros`, button: 'Book', action: () => book(train),
    })));
    say(`${trips.length} trains`);
}

async function book(train) {
    say('Booking ...');
    await ask('POST', 'api/orders', { train });
    await showTickets();
    say(`Booked: ${train}`);
}

for (const [form, action] of Object.entries({ login: logIn, search })) {
    find(form).addEventListener('submit', (event) => {
        event.preventDefault();
        void action(Object.fromEntries(new FormData(event.target)));
    });
}
