interface SettledProps {
  label: string;
  class?: string;
  value: string;
  hint?: string;
  isWrong?: boolean;
  /** Whether it may be left empty; if not, what it was comes back. */
  mayBeEmpty?: boolean;
  onSettle: (text: string) => void;
}

/** A text field that counts when it is left, or on Enter; Esc takes it back. */
export function Settled({ label, value, hint, isWrong = false, mayBeEmpty = false, onSettle, ...props }: SettledProps) {
  const settle = (input: HTMLInputElement) => {
    const text = input.value.trim();
    if (text === "" && !mayBeEmpty) input.value = value;
    else if (text !== value) onSettle(text);
  };
  return (
    <label class={props.class ?? ""}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={isWrong}
        onBlur={(event) => settle(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.value = value;
          else if (event.key !== "Enter") return;
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}
