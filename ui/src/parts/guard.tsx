// SPDX-License-Identifier: Apache-2.0
//
// A view that throws, because a document is not what it was taken for: the rest of the page goes on.
import { Component, type ComponentChildren } from 'preact';

import { routeTo } from '../model/route';
import { Icon } from './icons';
import { Text } from './text';

export class Guard extends Component<{ children: ComponentChildren }, { error: string | null }> {
    override state: { error: string | null } = { error: null };

    static override getDerivedStateFromError(cause: unknown): { error: string } {
        return { error: cause instanceof Error ? cause.message : String(cause) };
    }

    override render() {
        const { error } = this.state;
        if (error === null) return this.props.children;
        return (
            <div class="problem" role="alert">
                <p><Icon name="warn" /><strong>This view failed.</strong> Its documents are not what this version of the page expects.</p>
                <p><Text>{error}</Text></p>
                <p><a href={routeTo('')}>Go to the overview</a></p>
            </div>
        );
    }
}
