package dev.warmpath.tokenizer.template.method;

import dev.warmpath.tokenizer.template.op.Whitespace;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** The {@code is…} methods of Python's {@code str}. Immutable. */
public final class StringTests {

  private StringTests() {}

  static void addTo(Map<String, Method<String>> all) {
    add(all, "isalpha", s -> every(s, Character::isLetter));
    add(all, "isdigit", s -> every(s, StringTests::isDigit));
    add(all, "isdecimal", s -> every(s, Character::isDigit));
    add(all, "isnumeric", s -> every(s, StringTests::isNumeric));
    add(all, "isalnum", s -> every(s, c -> Character.isLetter(c) || isNumeric(c)));
    add(all, "isspace", s -> every(s, Whitespace::is));
    add(all, "isascii", s -> s.chars().allMatch(c -> c < 0x80));
    add(all, "islower", s -> isLower(s));
    add(all, "isupper", s -> isUpper(s));
    add(all, "istitle", StringTests::isTitle);
    add(all, "isidentifier", StringTests::isIdentifier);
  }

  private static void add(Map<String, Method<String>> all, String name, Predicate<String> test) {
    all.put(
        name,
        (budget, self, arguments) -> {
          arguments.bind(name);
          budget.scanned(self.length());
          return test.test(self);
        });
  }

  private static boolean every(String s, IntPredicate test) {
    return !s.isEmpty() && s.codePoints().allMatch(test);
  }

  /** Decimal digits, and digits such as superscripts. */
  private static boolean isDigit(int c) {
    return Character.isDigit(c)
        || c == 0xb2
        || c == 0xb3
        || c == 0xb9
        || c == 0x2070
        || (c >= 0x2074 && c <= 0x2079)
        || (c >= 0x2080 && c <= 0x2089);
  }

  private static boolean isNumeric(int c) {
    int type = Character.getType(c);
    return type == Character.DECIMAL_DIGIT_NUMBER
        || type == Character.LETTER_NUMBER
        || type == Character.OTHER_NUMBER;
  }

  static boolean isCased(int c) {
    return Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
  }

  public static boolean isLower(String s) {
    return s.codePoints().anyMatch(StringTests::isCased)
        && s.codePoints().noneMatch(c -> Character.isUpperCase(c) || Character.isTitleCase(c));
  }

  public static boolean isUpper(String s) {
    return s.codePoints().anyMatch(StringTests::isCased)
        && s.codePoints().noneMatch(c -> Character.isLowerCase(c) || Character.isTitleCase(c));
  }

  private static boolean isTitle(String s) {
    boolean afterCased = false;
    boolean any = false;
    for (int c : s.codePoints().toArray()) {
      boolean starts = Character.isUpperCase(c) || Character.isTitleCase(c);
      if (isCased(c) && starts == afterCased) {
        return false;
      }
      any |= isCased(c);
      afterCased = isCased(c);
    }
    return any;
  }

  private static boolean isIdentifier(String s) {
    if (s.isEmpty()) {
      return false;
    }
    int first = s.codePointAt(0);
    return (first == '_' || Character.isUnicodeIdentifierStart(first))
        && s.codePoints().allMatch(c -> c == '_' || Character.isUnicodeIdentifierPart(c));
  }
}
