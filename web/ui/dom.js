// Draws descriptions of elements into the page and changes only what differs.
//
//     draw(parent, [h("p", { class: "hint" }, "hello")])
//
// Text becomes text nodes and nothing else: there is no way to hand over HTML, so nothing that
// an agent wrote is ever markup. What reorders or hides text is taken out of all of it. Elements
// with the same `key` keep their identity, and with it focus and scroll position.

import { clean } from "../logic/format.js";

const SVG = "http://www.w3.org/2000/svg";

// Set as properties, since the attribute is only what they begin with.
const PROPERTIES = new Set([
  "value",
  "checked",
  "disabled",
  "selected",
  "open",
  "indeterminate",
  "readOnly",
  "hidden",
]);

// Attributes that people read.
const NAMES = new Set(["title", "aria-label", "aria-valuetext", "placeholder"]);

/** Describes an element. Properties: key, class, data (an object of data- marks), style (an
 *  object), on (an object of listeners), ref (called with the new element), others as
 *  attributes; what is null, undefined or false is left out. */
export function h(tag, properties, ...children) {
  const { key = null, ...rest } = properties ?? {};
  return {
    tag,
    key,
    properties: rest,
    children: children.flat(Infinity).filter(isShown),
    node: null,
  };
}

function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== true;
}

const drawn = new WeakMap();

/** Makes `children` the content of `parent`. */
export function draw(parent, children) {
  const list = [children].flat(Infinity).filter(isShown);
  const isSvg = parent.namespaceURI === SVG;
  drawn.set(parent, reconcile(parent, drawn.get(parent) ?? [], list, isSvg));
}

function describe(child) {
  return typeof child === "object"
    ? child
    : { tag: "#text", key: null, text: clean(child), node: null };
}

function reconcile(parent, olds, children, isSvg) {
  const keyed = new Map();
  const unkeyed = [];
  for (const old of olds) {
    if (old.key !== null) keyed.set(old.key, old);
    else unkeyed.push(old);
  }
  let next = 0;
  const pairs = children.map(describe).map((fresh) => {
    let old = null;
    if (fresh.key !== null) {
      old = keyed.get(fresh.key) ?? null;
      if (old?.tag !== fresh.tag) old = null;
      else keyed.delete(fresh.key);
    } else if (unkeyed[next]?.tag === fresh.tag) {
      old = unkeyed[next];
      next += 1;
    }
    return { fresh, old };
  });
  // What is gone goes first, so that what stays is not moved and keeps the focus.
  const kept = new Set(pairs.map((pair) => pair.old));
  for (const old of olds) if (!kept.has(old)) old.node.remove();
  let place = parent.firstChild;
  for (const { fresh, old } of pairs) {
    if (old) update(old, fresh, isSvg);
    else create(fresh, isSvg);
    if (fresh.node === place) place = place.nextSibling;
    else parent.insertBefore(fresh.node, place);
  }
  return pairs.map((pair) => pair.fresh);
}

function create(fresh, isSvgParent) {
  if (fresh.tag === "#text") {
    fresh.node = document.createTextNode(fresh.text);
    return;
  }
  const isSvg = isSvgParent || fresh.tag === "svg";
  fresh.node = isSvg ? document.createElementNS(SVG, fresh.tag) : document.createElement(fresh.tag);
  fresh.node.handlers = {};
  fresh.drawn = reconcile(fresh.node, [], fresh.children, isSvg && fresh.tag !== "foreignObject");
  setAll(fresh.node, {}, fresh.properties);
  fresh.properties.ref?.(fresh.node);
}

function update(old, fresh, isSvgParent) {
  fresh.node = old.node;
  if (fresh.tag === "#text") {
    if (old.text !== fresh.text) fresh.node.data = fresh.text;
    return;
  }
  const isSvg = isSvgParent || fresh.tag === "svg";
  fresh.drawn = reconcile(
    fresh.node,
    old.drawn,
    fresh.children,
    isSvg && fresh.tag !== "foreignObject",
  );
  setAll(fresh.node, old.properties, fresh.properties);
}

function setAll(node, olds, news) {
  for (const name of Object.keys(olds)) if (!(name in news)) set(node, name, olds[name], null);
  for (const name of Object.keys(news)) set(node, name, olds[name], news[name]);
}

function set(node, name, old, value) {
  if (name === "on") setListeners(node, old ?? {}, value ?? {});
  else if (name === "data") setMarks(node, old ?? {}, value ?? {});
  else if (name === "style") setStyle(node, old ?? {}, value ?? {});
  else if (name === "ref") return;
  else if (PROPERTIES.has(name)) setProperty(node, name, value);
  else if (old !== value) setAttribute(node, name, value);
}

// What somebody is typing is left alone.
function setProperty(node, name, value) {
  if (name === "value" && document.activeElement === node && node.tagName !== "SELECT") return;
  const wanted = value ?? (name === "value" ? "" : false);
  if (node[name] !== wanted) node[name] = wanted;
}

function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : NAMES.has(name) ? clean(value) : String(value));
  }
}

function setMarks(node, olds, news) {
  for (const name of Object.keys(olds)) if (!(name in news)) node.removeAttribute(`data-${name}`);
  for (const name of Object.keys(news)) {
    if (olds[name] !== news[name]) setAttribute(node, `data-${name}`, news[name]);
  }
}

// By the object model: the page's security policy refuses style attributes.
function setStyle(node, olds, news) {
  for (const name of Object.keys(olds)) if (!(name in news)) node.style.removeProperty(name);
  for (const name of Object.keys(news)) {
    if (olds[name] !== news[name]) node.style.setProperty(name, news[name]);
  }
}

// One listener per kind that calls the latest handler.
function setListeners(node, olds, news) {
  for (const name of Object.keys(olds)) if (!(name in news)) node.handlers[name] = null;
  for (const name of Object.keys(news)) {
    const isNew = !(name in node.handlers);
    node.handlers[name] = news[name];
    if (isNew) node.addEventListener(name, (event) => node.handlers[name]?.(event));
  }
}
