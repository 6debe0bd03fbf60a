package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What stands between the parentheses of a call, a filter or a test.
 *
 * @param star {@code *} or {@code **} when arguments are unpacked, which is refused; else null
 */
public record Arguments(List<Expression> positional, List<Keyword> keywords, @Nullable String star)
    implements Node {

  public static final Arguments NONE = new Arguments(List.of(), List.of(), null);

  /** One {@code name=value}. */
  public record Keyword(String name, Expression value) {}

  public Arguments {
    positional = List.copyOf(positional);
    keywords = List.copyOf(keywords);
  }

  public static Arguments of(List<Expression> positional) {
    return new Arguments(positional, List.of(), null);
  }

  @Override
  public List<Expression> children() {
    List<Expression> all = new ArrayList<>(positional);
    keywords.forEach(keyword -> all.add(keyword.value()));
    return all;
  }
}
