/** What is wrong, and the way back to what was right. */
export function Undoable({ message, banner = true }: { message: string; banner?: boolean }) {
  return (
    <p class={banner ? "problem banner" : "problem"} role="alert">
      {message}{" "}
      <button type="button" class="plain small" onClick={() => history.back()}>
        Undo
      </button>
    </p>
  );
}
