package dev.warmpath.router.fleet.match;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.Knowledge;
import dev.warmpath.router.fleet.Replica;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the index shows of a prompt on one engine.
 *
 * <p>Immutable.
 *
 * @param chain the prompt's blocks in the engine's space, null if its tokens are not known
 * @param matchedTokens leading tokens that the engine would reuse; 0 if its index is not believed
 */
public record Sighting(
    Replica replica, int dpRank, EngineView view, @Nullable BlockChain chain, int matchedTokens) {

  /** Leading blocks that the index shows. */
  public int matchedBlocks() {
    return chain == null
        ? 0
        : Math.min(chain.blocks(), matchedTokens / chain.space().blockSizeTokens());
  }

  /** One sighting for each engine of {@code replicas}; the index is asked once for each chain. */
  public static List<Sighting> all(List<Replica> replicas, Prompt prompt, Knowledge knowledge) {
    IdentityHashMap<BlockChain, PrefixMatches> matches = new IdentityHashMap<>();
    List<Sighting> sightings = new ArrayList<>();
    for (Replica replica : replicas) {
      for (int rank = 0; rank < replica.ranks(); rank++) {
        EngineView view = knowledge.views().of(replica, rank);
        BlockChain chain = prompt.chain(view);
        int matched =
            chain == null || !indexed(view) ? 0 : matched(view, chain, knowledge, matches);
        sightings.add(new Sighting(replica, rank, view, chain, matched));
      }
    }
    return sightings;
  }

  private static boolean indexed(EngineView view) {
    return view.slot() >= 0 && view.space() != null && view.trust() != Trust.NONE;
  }

  private static int matched(
      EngineView view,
      BlockChain chain,
      Knowledge knowledge,
      IdentityHashMap<BlockChain, PrefixMatches> matches) {
    PrefixMatches found =
        matches.computeIfAbsent(
            chain,
            asked -> {
              PrefixMatches answer = new PrefixMatches();
              knowledge.index().match(asked, answer);
              return answer;
            });
    return view.slower().reused(found, view.slot());
  }
}
