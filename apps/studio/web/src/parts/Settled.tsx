interface SettledProps {
  label: string;
  class?: string;
  value: string;
  hint?: string;
  isWrong?: boolean;
  onSettle: (text: string) => void;
}

/** A text field that counts when it is left, or on Enter; Esc takes it back. */
export function Settled({ label, value, hint, isWrong = false, onSettle, ...props }: SettledProps) {
  const settle = (text: string) => text.trim() !== value && onSettle(text.trim());
  return (
    <label class={props.class ?? ""}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={isWrong}
        onBlur={(event) => settle(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.value = value;
          else if (event.key !== "Enter") return;
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}
