import { SaxesParser } from "saxes";

/** An element of a document in TwiML or TeXML. */
export interface MarkupElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly MarkupElement[];
  /** The text in it and in the elements in it, without the white space around it. */
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: MarkupElement[];
  text: string;
}

/**
 * Parses a document in TwiML or TeXML, which must be well-formed. A document type is refused: only the five entities of XML itself
 * are known, so nothing can expand.
 *
 * @returns the elements in `Response`
 * @throws {TypeError} with the reason, as the end of a sentence
 */
export const parseMarkup = (document: string): readonly MarkupElement[] => {
  const parser = new SaxesParser();
  const open: OpenElement[] = [];
  let root: MarkupElement | undefined;
  const addText = (text: string): void => {
    const element = open.at(-1);
    if (element) element.text += text;
  };
  parser.on("error", ({ message }) => {
    throw new TypeError(`is not well-formed XML: ${message}`);
  });
  parser.on("doctype", () => {
    throw new TypeError("has a document type");
  });
  parser.on("opentag", ({ name, attributes }) => {
    open.push({ name, attributes: { ...attributes }, children: [], text: "" });
  });
  parser.on("closetag", () => {
    const closed = open.pop();
    if (!closed) return;
    const element = { ...closed, text: closed.text.trim() };
    const parent = open.at(-1);
    parent?.children.push(element);
    addText(closed.text);
    if (!parent) root = element;
  });
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.write(document).close();
  if (root?.name !== "Response") throw new TypeError("has no Response as its root");
  return root.children;
};
