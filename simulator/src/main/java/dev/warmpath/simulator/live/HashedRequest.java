package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.EngineRequest;

/**
 * A request with the digests of its blocks, computed when they are first asked for.
 *
 * <p>Single writer.
 */
public final class HashedRequest extends EngineRequest {

  private final TokenRequest request;
  private final BlockHashes hashes;

  /** The request, for an engine with blocks of this size and this hash. */
  public HashedRequest(TokenRequest request, int blockSizeTokens, BlockHashing hashing) {
    this(request, new BlockHashes(request, blockSizeTokens, hashing));
  }

  private HashedRequest(TokenRequest request, BlockHashes hashes) {
    super(
        block -> hashes.of(block).name(),
        request.prompt().length,
        request.answer().length,
        request.readsCache(),
        request.transfer(),
        request.mostLoadTokens());
    this.request = request;
    this.hashes = hashes;
  }

  public TokenRequest request() {
    return request;
  }

  /** The digest of full block {@code block}. */
  public BlockHash hash(int block) {
    return hashes.of(block);
  }

  int[] tokens(int fromBlock, int toBlock) {
    return hashes.tokens(fromBlock, toBlock);
  }
}
