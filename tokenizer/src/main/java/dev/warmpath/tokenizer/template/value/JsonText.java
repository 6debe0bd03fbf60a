package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values as {@code json.dumps} writes them.
 *
 * <p>Confined to its thread.
 */
public final class JsonText {
  private static final int MAX_DEPTH = 250;
  private static final int ESCAPE_CHARS = 6;

  /**
   * How to write.
   *
   * @param indent what one level is indented with; null for all in one line
   */
  public record Form(
      @Nullable String indent,
      String itemSeparator,
      String keySeparator,
      boolean isAscii,
      boolean isSorted) {
    public static final Form DEFAULT = new Form(null, ", ", ": ", false, false);
  }

  private final Budget budget;
  private final Form form;
  private final StringBuilder out = new StringBuilder();
  private int depth;

  private JsonText(Budget budget, Form form) {
    this.budget = budget;
    this.form = form;
  }

  public static String of(Budget budget, Object value, Form form) {
    JsonText text = new JsonText(budget, form);
    text.write(value);
    return text.out.toString();
  }

  private void write(Object value) {
    if (value instanceof String s) {
      string(s);
    } else if (value instanceof Map<?, ?> map) {
      object(map);
    } else if (value instanceof List<?> list && !(value instanceof Range)) {
      array(list);
    } else if (value instanceof Markup markup) {
      string(markup.text());
    } else {
      out.append(scalar(value));
    }
    budget.built(4);
    budget.output(out.length());
  }

  private static String scalar(Object value) {
    if (value == None.NONE) {
      return "null";
    }
    if (value instanceof Boolean b) {
      return b ? "true" : "false";
    }
    if (value instanceof Double d) {
      return real(d);
    }
    if (value instanceof Number) {
      return value.toString();
    }
    throw TemplateException.raised(
        "Object of type " + Values.typeName(value) + " is not JSON serializable");
  }

  private static String real(double d) {
    if (Double.isNaN(d)) {
      return "NaN";
    }
    return Double.isInfinite(d) ? (d > 0 ? "Infinity" : "-Infinity") : FloatText.of(d);
  }

  private void array(List<?> list) {
    open('[');
    boolean first = true;
    for (Object item : list) {
      separate(first);
      first = false;
      write(Values.of(item));
    }
    close(']', first);
  }

  private void object(Map<?, ?> map) {
    open('{');
    boolean first = true;
    Iterator<? extends Map.Entry<?, ?>> entries =
        form.isSorted() ? sorted(map) : map.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<?, ?> entry = entries.next();
      separate(first);
      first = false;
      string(key(Values.of(entry.getKey())));
      budget.text(form.keySeparator().length());
      out.append(form.keySeparator());
      write(Values.of(entry.getValue()));
    }
    close('}', first);
  }

  private Iterator<? extends Map.Entry<?, ?>> sorted(Map<?, ?> map) {
    List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
    entries.sort((a, b) ->
        PythonComparison.order(budget, "<", Values.of(a.getKey()), Values.of(b.getKey())));
    return entries.iterator();
  }

  private static String key(Object key) {
    if (key instanceof String s) {
      return s;
    }
    if (key == None.NONE || key instanceof Number || key instanceof Boolean) {
      return scalar(key);
    }
    throw TemplateException.raised(
        "keys must be str, int, float, bool or None, not " + Values.typeName(key));
  }

  private void open(char bracket) {
    out.append(bracket);
    if (++depth > MAX_DEPTH) {
      throw TemplateException.limit("a value nested deeper than " + MAX_DEPTH);
    }
  }

  private void separate(boolean first) {
    if (!first) {
      budget.text(form.itemSeparator().length());
      out.append(form.itemSeparator());
    }
    newline();
  }

  private void close(char bracket, boolean empty) {
    depth--;
    if (!empty) {
      newline();
    }
    out.append(bracket);
  }

  private void newline() {
    String indent = form.indent();
    if (indent != null) {
      budget.text((long) indent.length() * depth);
      out.append('\n').append(indent.repeat(depth));
    }
  }

  private void string(String s) {
    budget.text(s.length());
    out.append('"');
    for (int i = 0; i < s.length(); i++) {
      character(s.charAt(i));
    }
    out.append('"');
  }

  private void character(char c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case '\f' -> out.append("\\f");
      case '\b' -> out.append("\\b");
      default -> {
        if (c < ' ' || (form.isAscii() && c > '~')) {
          out.append("\\u").append(HexFormat.of().toHexDigits(c));
          budget.built(ESCAPE_CHARS);
          budget.output(out.length());
        } else {
          out.append(c);
        }
      }
    }
  }
}
