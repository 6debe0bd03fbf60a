package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An attribute as filters are given it: {@code a.b.0}, or an index. */
record AttributePath(List<Object> steps) {

  public static AttributePath of(@Nullable Object given) {
    if (given instanceof String path) {
      return parsed(path);
    }
    if (given != null && Values.isInteger(given)) {
      return new AttributePath(List.of(given));
    }
    throw given instanceof Undefined undefined
        ? undefined.failure()
        : TemplateException.raised("an attribute is a name or an index");
  }

  private static AttributePath parsed(String path) {
    List<Object> steps = new ArrayList<>();
    for (String step : path.split("\\.", -1)) {
      boolean index = !step.isEmpty() && step.chars().allMatch(c -> c >= '0' && c <= '9');
      steps.add(index && step.length() < 10 ? (Object) Long.parseLong(step) : step);
    }
    return new AttributePath(steps);
  }

  public Object get(Budget budget, Object item) {
    return get(budget, item, null);
  }

  /**
   * The same with something instead of what is missing, on the way too.
   *
   * @param otherwise null or none for nothing
   */
  public Object get(Budget budget, Object item, @Nullable Object otherwise) {
    Object value = item;
    for (Object step : steps) {
      value = Members.item(budget, value, step);
      if (value instanceof Undefined && !Args.isAbsent(otherwise)) {
        value = Values.of(otherwise);
      }
    }
    return value;
  }
}
