package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Values as text: Python's {@code str} and {@code repr}.
 *
 * <p>Confined to its thread.
 */
public final class Text {
  private static final int MAX_DEPTH = 250;

  private final Budget budget;
  private final StringBuilder out = new StringBuilder();
  private int depth;

  private Text(Budget budget) {
    this.budget = budget;
  }

  /** {@code str(value)}. */
  public static String of(Budget budget, Object value) {
    if (value instanceof String s) {
      return s;
    }
    if (value instanceof Long n) {
      return Long.toString(n);
    }
    if (value instanceof Undefined) {
      return "";
    }
    return value instanceof Markup markup ? markup.text() : repr(budget, value);
  }

  /** {@code repr(value)}. */
  public static String repr(Budget budget, Object value) {
    Text text = new Text(budget);
    text.write(value);
    return text.out.toString();
  }

  private void write(Object value) {
    if (value instanceof String s) {
      quoted(s);
    } else if (value instanceof Map<?, ?> map) {
      dict(map);
    } else if (value instanceof List<?> list && !(value instanceof Range)) {
      list(list);
    } else if (value instanceof Boolean b) {
      out.append(b ? "True" : "False");
    } else if (value == None.NONE) {
      out.append("None");
    } else if (value instanceof Double d) {
      out.append(FloatText.of(d));
    } else {
      rare(value);
    }
    budget.built(1);
    budget.output(out.length());
  }

  private void rare(Object value) {
    if (value instanceof Number || value instanceof Range || value instanceof Undefined) {
      out.append(value);
    } else if (value instanceof DictView view) {
      out.append(view.kind().typeName()).append('(');
      list(view.toList());
      out.append(')');
    } else if (value instanceof Namespace namespace) {
      out.append("<Namespace ");
      dict(namespace.attributes());
      out.append('>');
    } else if (value instanceof PyIterator || !(value instanceof Markup)) {
      throw TemplateException.unsupported(
          "the text of a " + Values.typeName(value) + " names an address in memory");
    } else {
      throw TemplateException.unsupported("the repr of safe text");
    }
  }

  private void list(List<?> list) {
    boolean isTuple = list instanceof Tuple;
    open(isTuple ? '(' : '[');
    String separator = "";
    for (Object item : list) {
      out.append(separator);
      separator = ", ";
      write(Values.of(item));
    }
    if (isTuple && list.size() == 1) {
      out.append(',');
    }
    close(isTuple ? ')' : ']');
  }

  private void dict(Map<?, ?> map) {
    open('{');
    String separator = "";
    for (Iterator<? extends Map.Entry<?, ?>> it = map.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<?, ?> entry = it.next();
      out.append(separator);
      separator = ", ";
      write(Values.of(entry.getKey()));
      out.append(": ");
      write(Values.of(entry.getValue()));
    }
    close('}');
  }

  private void open(char bracket) {
    out.append(bracket);
    budget.built(1);
    if (++depth > MAX_DEPTH) {
      throw TemplateException.limit("a value nested deeper than " + MAX_DEPTH);
    }
  }

  private void close(char bracket) {
    out.append(bracket);
    depth--;
  }

  private void quoted(String s) {
    budget.text(s.length());
    char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
    out.append(quote);
    for (int i = 0; i < s.length(); ) {
      int c = s.codePointAt(i);
      character(c, quote);
      i += Character.charCount(c);
    }
    out.append(quote);
  }

  private void character(int c, char quote) {
    if (c == quote || c == '\\') {
      out.append('\\').append((char) c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (c < 0x7f ? c >= ' ' : isPrintable(c)) {
      out.appendCodePoint(c);
    } else {
      escaped(c);
    }
  }

  private void escaped(int c) {
    int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    out.append('\\').append(digits == 2 ? 'x' : digits == 4 ? 'u' : 'U');
    out.append(HexFormat.of().toHexDigits(c, digits));
    budget.built(digits);
    budget.output(out.length());
  }

  /** What {@code str.isprintable} calls printable: not other, not separator, except the space. */
  static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> c == ' ';
      default -> true;
    };
  }
}
