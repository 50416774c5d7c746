// ipapi.co, "Complete location of an IP address".
const address = (ip || "").trim();
if (
  address !== "" &&
  !/^(\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F.]*:[0-9a-fA-F:.]{1,44})$/.test(address)
) {
  throw new Error('ip must be an IPv4 or IPv6 address such as "8.8.8.8"');
}

const path = address === "" ? "" : `${encodeURIComponent(address)}/`;
const resp = await fetch(`https://ipapi.co/${path}json/`, {
  headers: { Accept: "application/json", "User-Agent": "toolwarrant" },
  maxLength: 100_000,
});
if (resp.status === 429) {
  throw new Error(
    "ipapi.co takes no more requests for now; without a key it takes 1000 a day",
  );
}
resp.check("ipapi.co");

// An address that it cannot place is a 200 with error true.
const info = resp.json();
if (info?.error) {
  throw new Error(
    `ipapi.co has no place for this address: ${info.reason ?? "no reason given"}`,
  );
}
if (typeof info?.ip !== "string") {
  throw new Error("ipapi.co answered without an address");
}
return {
  ip: info.ip,
  city: info.city ?? null,
  region: info.region ?? null,
  countryName: info.country_name ?? null,
  countryCode: info.country_code ?? null,
  postal: info.postal ?? null,
  latitude: info.latitude ?? null,
  longitude: info.longitude ?? null,
  timezone: info.timezone ?? null,
  asn: info.asn ?? null,
  org: info.org ?? null,
};
