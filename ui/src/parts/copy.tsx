// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';

import { plain } from '../model/text';
import { Icon } from './icons';
import { Text } from './text';

// A page from a disk has no clipboard in some browsers: then by way of a selection.
async function toClipboard(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = document.createElement('textarea');
        area.value = text;
        area.style.position = 'fixed';
        area.style.opacity = '0';
        document.body.append(area);
        area.select();
        // deprecated, and all there is where the clipboard is refused
        const done = document.execCommand('copy'); // eslint-disable-line @typescript-eslint/no-deprecated
        area.remove();
        return done;
    }
}

export function Copy({ text, what }: { text: string; what: string }) {
    const [said, setSaid] = useState('');
    const button = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (!said) return undefined;
        const timer = setTimeout(() => { setSaid(''); }, 2000);
        return () => { clearTimeout(timer); };
    }, [said]);
    const copy = async () => {
        const done = await toClipboard(text);
        setSaid(done ? 'Copied' : 'Press Ctrl+C');
        button.current?.focus();
    };
    return (
        <>
            <button ref={button} type="button" class="copy" onClick={() => { void copy(); }} aria-label={`Copy ${what}`}>
                <Icon name={said === 'Copied' ? 'ok' : 'copy'} /><span>{said || 'Copy'}</span>
            </button>
            <span class="visually-hidden" role="status">{said}</span>
        </>
    );
}

/** A command for a terminal, with a button that copies it. */
export function Command({ command, label = 'Command' }: { command: string; label?: string }) {
    return (
        <div class="command">
            <code tabIndex={0} role="group" aria-label={`${label}: ${plain(command)}`}><Text>{command}</Text></code>
            <Copy text={command} what={label.toLowerCase()} />
        </div>
    );
}
