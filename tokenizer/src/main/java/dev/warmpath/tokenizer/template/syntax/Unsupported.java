package dev.warmpath.tokenizer.template.syntax;

import java.util.Set;

/**
 * The constructs of Jinja2 that no model's own template executes. They are not implemented: a
 * render that reaches one fails as {@link TemplateException.Kind#UNSUPPORTED}, with the construct
 * and its line. Names that are neither here nor implemented do not exist in Jinja2 either.
 */
public enum Unsupported {
  /** Tags with a body, up to {@code end…}. */
  BLOCK_TAG("tag", "autoescape, block, filter, with"),
  TAG("tag", "extends, from, import, include, print, raw"),
  LOOP("loop", "recursive"),
  FILTER(
      "filter",
      "abs, attr, batch, center, e, escape, filesizeformat, float, forceescape, format"
          + ", groupby, max, min, pprint, random, round, slice, sort, striptags, sum, truncate"
          + ", unique, urlencode, urlize, wordcount, wordwrap, xmlattr"),
  TEST("test", "divisibleby, escaped, filter, lower, sameas, test, upper"),
  FUNCTION("function", "cycler, joiner, lipsum"),
  OPERATOR("operator", "**, % on floats, % on text, * on lists, // on floats"),
  ARGUMENT("argument", "*, **"),
  STRING_METHOD(
      "method of text",
      "casefold, center, count, encode, expandtabs, format, format_map, index, isalnum"
          + ", isalpha, isascii, isdecimal, isdigit, isidentifier, islower, isnumeric"
          + ", isprintable, isspace, istitle, isupper, ljust, maketrans, partition, removeprefix"
          + ", removesuffix, rfind, rindex, rjust, rpartition, rsplit, splitlines, swapcase"
          + ", translate, zfill"),
  LIST_METHOD("method of a list", "copy, count, index"),
  DICT_METHOD("method of a dict", "copy, fromkeys"),
  NUMBER_ATTRIBUTE(
      "attribute of a number",
      "as_integer_ratio, bit_count, bit_length, conjugate, denominator, from_bytes, fromhex, hex,"
          + " imag, is_integer, numerator, real, to_bytes"),
  LOOP_ATTRIBUTE("attribute of a loop", "changed, cycle"),
  MACRO_VARIABLE("variable of a macro", "kwargs, varargs"),
  MACRO_ATTRIBUTE("attribute of a macro", "arguments, caller, catch_kwargs, catch_varargs, name");

  private final String kind;

  @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
  private final Set<String> names;

  Unsupported(String kind, String names) {
    this.kind = kind;
    this.names = Set.of(names.split(", "));
  }

  /** The names of this kind that are refused. */
  public Set<String> names() {
    return names;
  }

  /** Whether the name is one of them. */
  public boolean has(String name) {
    return names.contains(name);
  }

  /** Passes a name that is not one of them. */
  public void check(String name) {
    if (has(name)) {
      throw of(name);
    }
  }

  /** The refusal of one of the names. */
  public TemplateException of(String name) {
    if (!has(name)) {
      throw new IllegalArgumentException(kind + "=" + name);
    }
    return TemplateException.unsupported(kind + " " + name);
  }
}
