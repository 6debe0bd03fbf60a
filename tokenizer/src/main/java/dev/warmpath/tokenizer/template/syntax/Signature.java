package dev.warmpath.tokenizer.template.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a macro or call block.
 *
 * @param defaults of the last parameters
 */
public record Signature(List<String> parameters, List<Expression> defaults) implements Node {

  public static final Signature NONE = new Signature(List.of(), List.of());

  public Signature {
    parameters = List.copyOf(parameters);
    defaults = List.copyOf(defaults);
  }

  /** The default of the parameter at this index, if it has one. */
  public @Nullable Expression defaultOf(int index) {
    int i = index - (parameters.size() - defaults.size());
    return i < 0 ? null : defaults.get(i);
  }

  @Override
  public List<Expression> children() {
    return defaults;
  }
}
