package dev.warmpath.router.routing;

/**
 * The fewest blocks to prefill and to decode: {@code s·max(0, (q + n)/B − c/(1 + d·x)·H − 0.75·host
 * − 0.25·disk) + D}.
 *
 * <p>q queued and n prompt tokens make blocks of B; H blocks are held on the GPU, host and disk
 * only there. x is how much longer its queue is than the shortest, in prompts like this one. D is
 * the blocks in use with this request placed. Defaults: s = 1, c = 1, d = 0; no temperature.
 *
 * <p>Source: NVIDIA Dynamo's KV router (2026). Dynamo counts a block that several requests share
 * once in D; here each request in flight counts with its whole prompt.
 *
 * <p>Not for long contexts: D of one conversation of 100,000 tokens outweighs any prefill, and so
 * moves conversations away from their caches.
 *
 * <p>Thread-safe.
 */
final class DynamoPolicy implements RankingPolicy {

  private static final double HOST_CREDIT = 0.75;
  private static final double DISK_CREDIT = 0.25;

  private final Weights weights;

  /**
   * The constants of the formula, each from 0.
   *
   * @param prefill s, what a block to prefill weighs against one to decode
   * @param overlapCredit c, what a block held on the GPU saves
   * @param overlapDecay d, how fast that falls with the queue
   */
  public record Weights(double prefill, double overlapCredit, double overlapDecay) {

    /** As Dynamo has them. */
    public static final Weights DEFAULT = new Weights(1, 1, 0);

    public Weights {
      Options.require("prefill-weight", prefill);
      Options.require("overlap-credit", overlapCredit);
      Options.require("overlap-decay", overlapDecay);
    }
  }

  public DynamoPolicy(Weights weights) {
    this.weights = weights;
  }

  @Override
  public String name() {
    return "dynamo";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    return new Blocks(request, candidates, weights, candidates.leastQueuedTokens());
  }

  private record Blocks(
      RoutingRequest request, Candidates candidates, Weights weights, long leastQueued)
      implements Ranking {

    @Override
    public double cost(int row) {
      return prefill(row) + decode(row);
    }

    private double prefill(int row) {
      double size = request.blocks().blockSizeTokens();
      double queued = candidates.queuedTokens(row);
      double host = Math.min(candidates.hostTokens(row), candidates.creditTokens(request, row));
      double disk =
          Math.min(candidates.diskTokens(row), candidates.creditTokens(request, row) - host);
      double gpu = candidates.creditTokens(request, row) - host - disk;
      double excess = (queued - leastQueued) / size / request.lengthBlocks();
      double saved =
          weights.overlapCredit / (1 + weights.overlapDecay * excess) * gpu
              + HOST_CREDIT * host
              + DISK_CREDIT * disk;
      return weights.prefill * Math.max(0, (queued + request.knownTokens() - saved) / size);
    }

    private double decode(int row) {
      double used = candidates.contextTokens(row);
      return used / request.blocks().blockSizeTokens() + request.lengthBlocks();
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("prefill_blocks", prefill(row)), Score.term("decode_blocks", decode(row)));
    }

    @Override
    public String reason(int winner) {
      return candidates.reason(request, winner);
    }
  }
}
