/** A table that becomes a list of cards where there is no room for it. */

import type { ComponentChildren } from "preact";

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers stand at the end of their cell. */
  number?: boolean;
  /** The cell that names the row. */
  main?: boolean;
}

interface Props<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  id: (row: T) => string;
  testid: string;
}

// The roles are said, since a table that is laid out as cards is none to every browser.
export function Table<T>({ caption, columns, rows, id, testid }: Props<T>) {
  const look = (column: Column<T>) => (column.number ? "number" : column.main ? "main" : undefined);
  return (
    <table class="table" role="table" data-testid={testid}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.name} role="columnheader" scope="col" class={look(column)}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={id(row)} role="row">
            {columns.map((column) => (
              <td key={column.name} role="cell" class={look(column)} data-name={column.name}>
                <span class="cell">{column.cell(row)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
