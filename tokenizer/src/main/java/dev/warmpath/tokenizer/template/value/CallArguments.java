package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Evaluated arguments of a call. */
public final class CallArguments {
  public static final CallArguments NONE = new CallArguments(new Object[0], Map.of());

  private final Object[] positional;
  private final Map<String, Object> keywords;

  public CallArguments(Object[] positional, Map<String, Object> keywords) {
    this.positional = positional;
    this.keywords = keywords;
  }

  public int size() {
    return positional.length;
  }

  public Object get(int index) {
    return positional[index];
  }

  public Map<String, Object> keywords() {
    return keywords;
  }

  public boolean isEmpty() {
    return positional.length == 0 && keywords.isEmpty();
  }

  /** The positional arguments from an index on. */
  public Object[] from(int index) {
    return index >= positional.length
        ? new Object[0]
        : Arrays.copyOfRange(positional, index, positional.length);
  }

  /** These without the first {@code count} positional ones. */
  public CallArguments without(int count) {
    return new CallArguments(from(count), keywords);
  }

  /** These and one more keyword, which must not be there yet. */
  public CallArguments with(String keyword, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(keywords);
    more.put(keyword, value);
    return new CallArguments(positional, more);
  }

  /**
   * The values for a function's parameters, by index; null where none was given.
   *
   * @throws TemplateException when there are more or others than the function takes
   */
  public @Nullable Object[] bind(String function, String... parameters) {
    if (positional.length > parameters.length) {
      throw TemplateException.raised(
          function + "() takes at most " + parameters.length + " arguments");
    }
    @Nullable Object[] values = Arrays.copyOf(positional, parameters.length);
    for (Map.Entry<String, Object> keyword : keywords.entrySet()) {
      int index = Arrays.asList(parameters).indexOf(keyword.getKey());
      if (index < 0 || values[index] != null) {
        throw TemplateException.raised(
            function + "() got an unexpected keyword argument '" + keyword.getKey() + "'");
      }
      values[index] = keyword.getValue();
    }
    return values;
  }

  /** The same for a function that must be given its first {@code required} arguments. */
  public @Nullable Object[] bindRequired(String function, int required, String... parameters) {
    @Nullable Object[] values = bind(function, parameters);
    for (int i = 0; i < required; i++) {
      if (values[i] == null) {
        throw TemplateException.raised(
            function + "() missing required argument '" + parameters[i] + "'");
      }
    }
    return values;
  }
}
