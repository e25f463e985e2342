/** Line drawings, one path each, in the text's colour. They only accompany words. */

const PATHS = {
  ask: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 1.9v.5M12 17.5v.01M12 21a9 9 0 1 0-8-4.9L3 21l4.900-1A9 9 0 0 0 12 21Z",
  answer: "M4 5.500h16v13H4zM4 16l4.500-5 4 4 2.500-2.500L20 17M15.500 9.500v.01",
  check: "M5 12.500l4.500 4.500L19 7.500",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  coin: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM14.800 9c-.5-.9-1.500-1.300-2.800-1.300-1.700 0-2.800.8-2.800 2.100 0 3 5.800 1.400 5.800 4.300 0 1.300-1.200 2.200-3 2.200-1.400 0-2.500-.5-3-1.500M12 6v1.700M12 16.300V18",
  pen: "M4 20l1-4.500L16 4.500l3.500 3.500-11 11L4 20Z",
  flag: "M6 21V4M6 4.500c4-2 7 2 12 0v9c-5 2-8-2-12 0",
  door: "M14 4H6v16h8M10 12h10M17 9l3 3-3 3",
  zoom: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM15.500 15.500L20 20M11 8.500v5M8.500 11h5",
  minus: "M6 12h12",
  plus: "M6 12h12M12 6v12",
  close: "M6 6l12 12M18 6L6 18",
  down: "M12 5v13M6 12.500l6 6 6-6",
  send: "M5 12h13M12.500 6l6 6-6 6",
  away: "M4 4l16 16M8.500 15.500a5 5 0 0 1 5-1M5 12a10 10 0 0 1 4-2.500M12 19v.01M13 9a10 10 0 0 1 6 3",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  info: "M12 11v5.500M12 7.700v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, large = false }: { name: IconName; large?: boolean }) {
  return (
    <svg class={`icon icon-${name}${large ? " icon-large" : ""}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
