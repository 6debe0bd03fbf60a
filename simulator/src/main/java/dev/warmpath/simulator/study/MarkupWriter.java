package dev.warmpath.simulator.study;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/**
 * Writes elements of HTML or SVG so that they are well-formed XML too: every element ends, text and
 * attributes are escaped.
 *
 * <p>Single writer.
 */
public final class MarkupWriter {

  private final StringBuilder text = new StringBuilder();
  private final Deque<String> open = new ArrayDeque<>();

  /** Begins an element; attributes are names and values in turns. */
  public MarkupWriter open(String element, Object... attributes) {
    tag(element, attributes).append('>');
    open.push(element);
    return this;
  }

  /** Ends the element that was begun last. */
  public MarkupWriter close() {
    text.append("</").append(open.pop()).append('>');
    return this;
  }

  /** An element that contains nothing. */
  public MarkupWriter empty(String element, Object... attributes) {
    tag(element, attributes).append("/>");
    return this;
  }

  /** An element that contains text. */
  public MarkupWriter element(String element, String content, Object... attributes) {
    return open(element, attributes).text(content).close();
  }

  public MarkupWriter text(String content) {
    text.append(escaped(content));
    return this;
  }

  /** Adds what is markup already. */
  public MarkupWriter raw(String markup) {
    text.append(markup);
    return this;
  }

  private StringBuilder tag(String element, Object... attributes) {
    text.append('<').append(element);
    for (int i = 0; i < attributes.length; i += 2) {
      text.append(' ').append(attributes[i]).append("=\"");
      text.append(escaped(value(attributes[i + 1]))).append('"');
    }
    return text;
  }

  /** Places to a tenth: more cannot be seen. */
  private static String value(Object value) {
    return value instanceof Double place
        ? String.format(Locale.ROOT, "%.1f", place)
        : String.valueOf(value);
  }

  private static String escaped(String content) {
    return content
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  @Override
  public String toString() {
    if (!open.isEmpty()) {
      throw new IllegalStateException("open=" + open);
    }
    return text.toString();
  }
}
