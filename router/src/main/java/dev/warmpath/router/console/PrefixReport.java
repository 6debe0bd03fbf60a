package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.HotPrefix;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer of {@code GET /admin/prefixes}: the prefixes that saved most tokens, and which engines
 * hold them now. It holds text only with {@code admin.show-prompts}.
 *
 * <p>Confined to the asking thread.
 */
final class PrefixReport {

  private final AdminContext admin;

  /** The engines with an index, by the space of their blocks. */
  private final Map<ChainSpace, List<EngineReport>> engines = new LinkedHashMap<>();

  private final PrefixMatches matches = new PrefixMatches();

  private PrefixReport(AdminContext admin) {
    this.admin = admin;
    for (EngineReport engine : admin.dispatcher().report()) {
      EngineView view = engine.view();
      if (view.space() != null && view.slot() >= 0 && view.trust() != Trust.NONE) {
        engines.computeIfAbsent(view.space(), space -> new ArrayList<>()).add(engine);
      }
    }
  }

  static ObjectNode of(AdminContext admin, int most) {
    PrefixReport report = new PrefixReport(admin);
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode list = root.putArray("prefixes");
    admin.console().prefixes(most).forEach(prefix -> report.prefix(list.addObject(), prefix));
    return root;
  }

  private void prefix(ObjectNode to, HotPrefix prefix) {
    to.put("id", prefix.id());
    to.put("model", prefix.model());
    to.put("tokens", prefix.tokens());
    to.put("tokensSaved", prefix.tokensSaved());
    to.put("requests", prefix.requests());
    ArrayNode holders = JsonNodeFactory.instance.arrayNode();
    engines.forEach((space, there) -> {
      BlockChain chain = prefix.chain().in(space);
      if (chain != null) {
        admin.index().match(chain, matches);
        there.stream()
            .filter(engine -> matches.tokens(engine.view().slot()) >= prefix.tokens())
            .forEach(engine -> holders.add(engine.engine()));
      }
    });
    to.put("engines", holders.size());
    to.set("holders", holders);
    HotPrefix.Ends ends = prefix.ends();
    ModelTokenizer tokenizer = ends == null ? null : ExplainReport.tokenizer(admin, prefix.model());
    to.put("firstWords", text(tokenizer, ends == null ? null : ends.first()));
    to.put("lastWords", text(tokenizer, ends == null ? null : ends.last()));
  }

  private static @Nullable String text(
      @Nullable ModelTokenizer tokenizer, int @Nullable [] tokenIds) {
    return tokenizer == null || tokenIds == null ? null : tokenizer.decode(tokenIds);
  }
}
