package dev.warmpath.router.dispatch;

import dev.warmpath.router.routing.Policy;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * By which policy the engine for a request is chosen.
 *
 * @param usual of models without their own
 * @param byModel of those that have one
 * @param modelOf the model whose policy a request's name means: itself, or an adapter's base
 */
public record ModelPolicies(
    Policy usual,
    Map<String, Policy> byModel,
    Function<@Nullable String, @Nullable String> modelOf) {

  public ModelPolicies {
    byModel = Map.copyOf(byModel);
  }

  /** One for all models. */
  static ModelPolicies of(Policy usual) {
    return new ModelPolicies(usual, Map.of(), model -> model);
  }

  Policy of(@Nullable String model) {
    if (byModel.isEmpty()) {
      return usual;
    }
    String known = modelOf.apply(model);
    return known == null ? usual : byModel.getOrDefault(known, usual);
  }

  /** All of them, the usual one first. */
  public Stream<Policy> all() {
    return Stream.concat(Stream.of(usual), byModel.values().stream());
  }
}
