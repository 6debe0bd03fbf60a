package dev.warmpath.router.logs;

import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Reads the headers of a request for a propagator. */
enum HeaderGetter implements TextMapGetter<UnaryOperator<@Nullable String>> {
  INSTANCE;

  @Override
  public Iterable<String> keys(UnaryOperator<@Nullable String> headers) {
    return List.of();
  }

  @Override
  public @Nullable String get(@Nullable UnaryOperator<@Nullable String> headers, String name) {
    return headers == null ? null : headers.apply(name);
  }
}
