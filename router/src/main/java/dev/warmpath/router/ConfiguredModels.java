package dev.warmpath.router;

import dev.warmpath.router.config.ModelConfig;
import dev.warmpath.router.config.PolicyConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.ModelPolicies;
import dev.warmpath.router.prompt.Tokenizers;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.SplitRules;
import java.util.HashMap;
import java.util.Map;

/**
 * The names and the policies of the configured models, as they are at the moment.
 *
 * <p>Single writer, many readers.
 */
final class ConfiguredModels {

  private final Tokenizers tokenizers;

  /** The model that another name means. */
  private volatile Map<String, String> aliases = Map.of();

  ConfiguredModels(Tokenizers tokenizers) {
    this.tokenizers = tokenizers;
  }

  /** The model that a name in a request means. */
  String modelOf(String name) {
    return aliases.getOrDefault(name, name);
  }

  /**
   * Applies the names and policies of {@code now}.
   *
   * @param before what held; what the policies that stay remember outlives the change
   */
  void apply(RouterConfig before, RouterConfig now, Dispatcher dispatcher) {
    dispatcher.policies(policies(dispatcher.policies(), before, now));
    dispatcher.splitRule(SplitRules.named(now.policy().split(), now.policy().splitOptions()));
    dispatcher.loadBack(now.policy().loadBack());
    dispatcher.pulls(now.policy().pull());
    Map<String, String> names = new HashMap<>();
    now.models().forEach(model -> model.aliases().forEach(alias -> names.put(alias, model.name())));
    aliases = Map.copyOf(names);
  }

  private ModelPolicies policies(ModelPolicies known, RouterConfig before, RouterConfig now) {
    PolicyConfig usual = now.policy();
    boolean stays =
        usual.name().equals(before.policy().name())
            && usual.options().equals(before.policy().options());
    Map<String, Policy> byModel = new HashMap<>();
    for (ModelConfig model : now.models()) {
      if (model.policy() != null) {
        Policy own = known.byModel().get(model.name());
        boolean keeps = own != null && before.models().stream().anyMatch(model::hasPolicyOf);
        byModel.put(
            model.name(), keeps ? own : Policies.named(model.policy(), model.policyOptions()));
      }
    }
    return new ModelPolicies(
        stays ? known.usual() : Policies.named(usual.name(), usual.options()),
        byModel,
        tokenizers::modelOf);
  }
}
