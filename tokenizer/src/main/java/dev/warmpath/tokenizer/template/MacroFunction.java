package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.Attributes;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Undefined;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A macro or call block, with the frame that it was defined in.
 *
 * <p>Confined to the thread of its render.
 */
record MacroFunction(Definition definition, Frame home) implements Callable, Attributes {

  /**
   * A compiled macro.
   *
   * @param callerSlot where {@code caller} goes; -1 when nothing asks for it
   * @param refusal when the body reads a variable that is not supported
   */
  record Definition(
      String name,
      List<Parameter> parameters,
      int callerSlot,
      Exec body,
      int frameSize,
      int height,
      @Nullable TemplateException refusal) {}

  /** A parameter with its default, if it has one. */
  record Parameter(String name, int slot, @Nullable Eval otherwise) {}

  @Override
  public Object call(Budget budget, CallArguments arguments) {
    if (definition.refusal() != null) {
      throw definition.refusal();
    }
    budget.enter(definition.height());
    Frame frame = home.inner(definition.frameSize());
    bind(frame, arguments);
    Output out = new Output();
    definition.body().run(frame, out);
    budget.leave(definition.height());
    budget.text(out.length());
    return out.toString();
  }

  private void bind(Frame frame, CallArguments arguments) {
    Map<String, Object> keywords =
        arguments.keywords().isEmpty() ? Map.of() : new LinkedHashMap<>(arguments.keywords());
    List<Parameter> parameters = definition.parameters();
    for (int i = 0; i < parameters.size(); i++) {
      Parameter parameter = parameters.get(i);
      Object given = i < arguments.size() ? arguments.get(i) : take(keywords, parameter.name());
      frame.set(parameter.slot(), given);
    }
    bindCaller(frame, arguments, keywords);
    for (Parameter parameter : parameters) {
      if (frame.get(parameter.slot()) == null) {
        frame.set(parameter.slot(), otherwise(frame, parameter));
      }
    }
  }

  private static @Nullable Object take(Map<String, Object> keywords, String name) {
    return keywords.isEmpty() ? null : keywords.remove(name);
  }

  private static Object otherwise(Frame frame, Parameter parameter) {
    Eval otherwise = parameter.otherwise();
    return otherwise != null
        ? otherwise.eval(frame)
        : Undefined.because("parameter '" + parameter.name() + "' was not provided");
  }

  private void bindCaller(Frame frame, CallArguments arguments, Map<String, Object> keywords) {
    if (definition.callerSlot() >= 0) {
      Object caller = keywords.isEmpty() ? null : keywords.remove("caller");
      boolean absent = caller == null || caller == None.NONE;
      frame.set(definition.callerSlot(), absent ? Undefined.because("No caller defined") : caller);
    }
    if (!keywords.isEmpty()) {
      throw TemplateException.raised(
          "macro '" + definition.name() + "' takes no keyword argument " + keywords.keySet());
    }
    int count = definition.parameters().size();
    if (arguments.size() > count) {
      throw TemplateException.raised(
          "macro '" + definition.name() + "' takes not more than " + count + " argument(s)");
    }
  }

  @Override
  public @Nullable Object attribute(String attribute) {
    Unsupported.MACRO_ATTRIBUTE.check(attribute);
    return null;
  }

  /** A macro equals itself only. */
  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
