package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import org.jspecify.annotations.Nullable;

/** {@code strip}, {@code lstrip} and {@code rstrip}, of white space or of given characters. */
final class Trim {

  private Trim() {}

  public static String apply(
      Budget budget, String s, @Nullable Object chars, boolean atStart, boolean atEnd) {
    budget.scanned(s.length());
    if (Args.isAbsent(chars)) {
      int from = atStart ? Whitespace.skip(s, 0) : 0;
      return s.substring(from, atEnd ? Whitespace.trimEnd(s, from) : s.length());
    }
    return of(budget, s, Args.text(chars, "strip arg"), atStart, atEnd);
  }

  private static String of(Budget budget, String s, String chars, boolean atStart, boolean atEnd) {
    int from = 0;
    while (atStart && from < s.length() && chars.indexOf(s.codePointAt(from)) >= 0) {
      budget.scanned(chars.length());
      from += Character.charCount(s.codePointAt(from));
    }
    int to = s.length();
    while (atEnd && to > from && chars.indexOf(s.codePointBefore(to)) >= 0) {
      budget.scanned(chars.length());
      to -= Character.charCount(s.codePointBefore(to));
    }
    return s.substring(from, to);
  }
}
