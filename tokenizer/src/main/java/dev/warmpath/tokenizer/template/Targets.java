package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Namespace;
import java.util.List;

/** Compiled targets of assignments. */
final class Targets {

  private Targets() {}

  /** Stores a value. */
  interface Target {
    void assign(Frame frame, Object value);
  }

  static Target of(Expression target, Scope scope) {
    if (target instanceof Expression.Name name) {
      int slot = scope.declare(name.name());
      return (frame, value) -> frame.set(slot, value);
    }
    if (target instanceof Expression.NamespaceTarget namespace) {
      return attribute(scope.reader(namespace.namespace()), namespace.attribute());
    }
    Expression.Sequence sequence = (Expression.Sequence) target;
    List<Target> parts = sequence.items().stream().map(item -> of(item, scope)).toList();
    return (frame, value) -> unpack(frame, value, parts);
  }

  private static Target attribute(Eval owner, String attribute) {
    return (frame, value) -> {
      if (!(owner.eval(frame) instanceof Namespace namespace)) {
        throw TemplateException.raised("cannot assign attribute on non-namespace object");
      }
      namespace.attributes().put(attribute, value);
    };
  }

  private static void unpack(Frame frame, Object value, List<Target> parts) {
    List<Object> values = Iteration.toList(frame.budget(), value);
    if (values.size() != parts.size()) {
      throw TemplateException.raised(
          values.size() > parts.size()
              ? "too many values to unpack (expected " + parts.size() + ")"
              : "not enough values to unpack (expected " + parts.size() + ")");
    }
    for (int i = 0; i < parts.size(); i++) {
      parts.get(i).assign(frame, values.get(i));
    }
  }
}
