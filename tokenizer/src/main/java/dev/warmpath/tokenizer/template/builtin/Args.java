package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Arguments of built-in functions as the types they need. */
final class Args {

  private Args() {}

  public static Object or(@Nullable Object given, Object otherwise) {
    return given == null ? otherwise : given;
  }

  public static boolean isAbsent(@Nullable Object given) {
    return given == null || given == None.NONE;
  }

  public static String text(@Nullable Object given, String what) {
    if (given instanceof String s) {
      return s;
    }
    if (given instanceof Undefined undefined) {
      throw undefined.failure();
    }
    throw TemplateException.raised(
        what + " must be str, not " + (given == null ? "missing" : Values.typeName(given)));
  }

  /** A size or a number of times; Python refuses those beyond 64 bits in some places only. */
  public static int count(@Nullable Object given, int otherwise, String what) {
    if (given instanceof BigInteger) {
      throw TemplateException.unsupported(what + " beyond 64 bits");
    }
    return given == null ? otherwise : Values.index(given, what);
  }

  public static boolean flag(@Nullable Object given, boolean otherwise) {
    return given == null ? otherwise : Values.isTrue(given);
  }
}
