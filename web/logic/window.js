// Which rows of a long list are on screen.

/** The range [first, last) of rows of `height` px to draw, a few more on both sides. */
export function visible(count, height, scrollTop, viewHeight, spare = 6) {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / height) - spare));
  const last = Math.min(count, Math.ceil((scrollTop + viewHeight) / height) + spare);
  return { first, last: Math.max(first, last) };
}

/** Where to scroll so that a row is on screen; unchanged if it is already. */
export function scrollTo(index, height, scrollTop, viewHeight) {
  const top = index * height;
  if (top < scrollTop) return top;
  if (top + height > scrollTop + viewHeight) return Math.max(0, top + height - viewHeight);
  return scrollTop;
}
