package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Strings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Text taken apart: at a separator, at white space, at the ends of lines. */
public final class Split {

  private Split() {}

  static List<Object> apply(Budget budget, String s, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("split", "sep", "maxsplit");
    int limit = Args.count(given[1], -1, "maxsplit");
    int most = limit < 0 ? Integer.MAX_VALUE : limit;
    budget.text(s.length());
    if (Args.isAbsent(given[0])) {
      if (most < Integer.MAX_VALUE) {
        throw TemplateException.unsupported("str.split at white space with a limit");
      }
      return words(budget, s);
    }
    String by = Args.text(given[0], "separator");
    if (by.isEmpty()) {
      throw TemplateException.raised("empty separator");
    }
    return parts(budget, s, by, most);
  }

  private static void add(Budget budget, List<Object> parts, String part) {
    budget.elements(1);
    parts.add(part);
  }

  private static List<Object> parts(Budget budget, String s, String by, int most) {
    List<Object> parts = new ArrayList<>();
    int from = 0;
    int at = Strings.indexOf(budget, s, by, 0);
    while (at >= 0 && parts.size() < most) {
      add(budget, parts, s.substring(from, at));
      from = at + by.length();
      at = Strings.indexOf(budget, s, by, from);
    }
    add(budget, parts, s.substring(from));
    return parts;
  }

  private static List<Object> words(Budget budget, String s) {
    List<Object> parts = new ArrayList<>();
    int from = Whitespace.skip(s, 0);
    while (from < s.length()) {
      int to = from;
      while (to < s.length() && !Whitespace.is(s.charAt(to))) {
        to++;
      }
      add(budget, parts, s.substring(from, to));
      from = Whitespace.skip(s, to);
    }
    return parts;
  }

  /** The lines of a text, without their ends. */
  public static List<Object> lines(Budget budget, String s) {
    budget.text(s.length());
    List<Object> lines = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < s.length(); i++) {
      if (isLineEnd(s.charAt(i))) {
        int end = i;
        if (s.charAt(i) == '\r' && i + 1 < s.length() && s.charAt(i + 1) == '\n') {
          i++;
        }
        add(budget, lines, s.substring(from, end));
        from = i + 1;
      }
    }
    if (from < s.length()) {
      add(budget, lines, s.substring(from));
    }
    return lines;
  }

  private static boolean isLineEnd(char c) {
    return (c >= '\n' && c <= '\r')
        || (c >= 0x1c && c <= 0x1e)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }
}
