// What the reader of a reply has to know of it.

import "./cautions.css";

export function Cautions({ of }: { of: readonly (string[] | undefined)[] }) {
  const all = [...new Set(of.flatMap((one) => one ?? []))];
  return (
    <>
      {all.map((what) => (
        <p key={what} class="note caution">
          Careful: {what}
        </p>
      ))}
    </>
  );
}
