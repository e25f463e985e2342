/** The team's own text: blank lines part paragraphs, and nothing in it is markup. */

export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/\n\s*\n/)
        .filter((paragraph) => paragraph.trim() !== "")
        .map((paragraph) => (
          <p key={paragraph} dir="auto">
            {paragraph.trim()}
          </p>
        ))}
    </>
  );
}
