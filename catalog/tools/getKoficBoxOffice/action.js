// KOBIS Open API of the Korean Film Council, "searchDailyBoxOfficeList".
const { targetDate: day } = safety.check(
  { ...args, targetDate: targetDate.trim() },
  {
    targetDate: { format: "basic-date" },
    multiMovieYn: { enum: ["Y", "N"] },
    repNationCd: { enum: ["K", "F"] },
  },
);

const search = new URLSearchParams({ key: koficApiKey, targetDt: day });
for (const [name, value] of Object.entries({
  multiMovieYn,
  repNationCd,
  wideAreaCd,
})) {
  if (value) {
    search.set(name, value);
  }
}
const resp = await fetch(
  `https://www.kobis.or.kr/kobisopenapi/webservice/rest/boxoffice/searchDailyBoxOfficeList.json?${search}`,
  { headers: { "User-Agent": "toolwarrant" }, maxLength: 500_000 },
);
resp.check("KOBIS");

// What it refuses is a 200 with faultInfo.
const answer = resp.json();
if (answer?.faultInfo) {
  throw new Error(
    `KOBIS refused the request (${answer.faultInfo.errorCode}): ${answer.faultInfo.message}; check KOFIC_API_KEY`,
  );
}
const result = answer?.boxOfficeResult;
if (
  !Array.isArray(result?.dailyBoxOfficeList) ||
  result?.dailyBoxOfficeList.includes(null)
) {
  throw new Error("KOBIS answered without a list of films");
}
const number = (text) => (text ? Number(text) : null);
const movies = result.dailyBoxOfficeList.map((film) => ({
  rank: number(film.rank),
  rankChange: number(film.rankInten),
  isNew: film.rankOldAndNew === "NEW",
  movieCode: film.movieCd,
  title: film.movieNm,
  openDate: (film.openDt ?? "").trim() || null,
  salesWon: number(film.salesAmt),
  salesShare: number(film.salesShare),
  salesTotalWon: number(film.salesAcc),
  audience: number(film.audiCnt),
  audienceTotal: number(film.audiAcc),
  screens: number(film.scrnCnt),
  shows: number(film.showCnt),
}));
return {
  type: result.boxofficeType ?? null,
  showRange: result.showRange ?? null,
  count: movies.length,
  movies,
};
