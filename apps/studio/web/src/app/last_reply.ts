import { signal } from "@preact/signals";

/** Milliseconds from the last question to its reply, as the page saw it. */
export const lastReply = signal<number | null>(null);
