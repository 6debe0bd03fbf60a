package dev.warmpath.router.routing;

/** Any candidate, each as likely as the others. */
final class RandomPolicy implements Policy {

  private static final Score SAME = Score.of();

  @Override
  public String name() {
    return "random";
  }

  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    return (int) Long.remainderUnsigned(request.draw(), candidates.count());
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return "random";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    return SAME;
  }
}
