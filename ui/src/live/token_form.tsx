// SPDX-License-Identifier: Apache-2.0
//
// Asks for the token, where the address had none or an old one.
import { useState } from 'preact/hooks';

import type { Live } from './store';
import { keepToken } from './token';

export function TokenForm({ live }: { live: Live }) {
    const [token, setToken] = useState('');
    const submit = (event: Event) => {
        event.preventDefault();
        if (token.trim() === '') return;
        keepToken(token.trim());
        live.admit();
    };
    return (
        <form class="live-token" onSubmit={submit}>
            <label>Token <input type="password" autocomplete="off" value={token} onInput={(event) => { setToken(event.currentTarget.value); }} /></label>
            <button type="submit" class="button main">Connect</button>
            <span class="muted small">It is what OUTFOX_TOKEN or --token-file holds where outfox runs.</span>
        </form>
    );
}
