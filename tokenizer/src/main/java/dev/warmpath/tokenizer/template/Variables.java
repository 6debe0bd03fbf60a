package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.builtin.Globals;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import java.util.Set;
import java.util.TreeSet;

/**
 * The names that a template reads, less Jinja2's own functions. Names that it always sets before it
 * reads them are among them: what is passed for those changes nothing.
 */
final class Variables {

  private Variables() {}

  static Set<String> of(Node tree) {
    Set<String> names = new TreeSet<>();
    tree.walk(node -> {
      if (node instanceof Expression.Name name) {
        names.add(name.name());
      } else if (node instanceof Expression.NamespaceTarget target) {
        names.add(target.namespace());
      }
    });
    names.removeAll(Globals.OWN_NAMES);
    return Set.copyOf(names);
  }
}
